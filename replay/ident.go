package replay

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// Limits of an identifier, in bytes. Longer strings are data.
const (
	minIdentifier = 3
	maxIdentifier = 200
)

// identifiers calls f for each identifier of a text: a path, URL, host, flag,
// name in code, hash or number of three digits or more. This definition is
// independent of the code that writes summaries.
func identifiers(text string, f func(string)) {
	for word := range strings.FieldsFuncSeq(text, breaks) {
		word = strings.Trim(word, ".:-/@#*~!?&=+|%^$\\")
		word = strings.TrimPrefix(word, "./")
		if len(word) >= minIdentifier && len(word) <= maxIdentifier && isIdentifier(word) {
			f(word)
		}
	}
}

// breaks reports whether a rune ends a word.
func breaks(r rune) bool {
	switch r {
	case '"', '\'', '`', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '=', '|', '\\':
		return true
	}
	return unicode.IsSpace(r)
}

// isIdentifier distinguishes names from words by a digit, a mark between
// letters, or a capital after a small letter.
func isIdentifier(word string) bool {
	digits, letters, marks, hump := 0, 0, 0, false
	last := rune(0)
	for _, r := range word {
		switch {
		case '0' <= r && r <= '9':
			digits++
		case unicode.IsLetter(r):
			letters++
			hump = hump || unicode.IsUpper(r) && unicode.IsLower(last)
		case strings.ContainsRune("_./:@#", r):
			marks++
		case r == utf8.RuneError:
			return false
		}
		last = r
	}
	switch {
	case letters == 0:
		return digits >= minIdentifier
	case digits > 0 || hump:
		return true
	}
	return marks > 0 && letters > marks
}

// isReadable reports whether a reader can work from a line: at least a quarter of its
// words are plain words. A list of names is not readable.
func isReadable(line string) bool {
	words, plain := 0, 0
	for w := range strings.FieldsSeq(line) {
		words++
		if isPlain(w) {
			plain++
		}
	}
	return plain > 0 && 4*plain >= words
}

// isPlain reports whether a word consists of two letters or more, with no capital
// after the first, apart from punctuation after it.
func isPlain(word string) bool {
	word = strings.TrimRight(word, ".,:;!?)")
	n := 0
	for i, r := range word {
		if !unicode.IsLetter(r) || i > 0 && unicode.IsUpper(r) {
			return false
		}
		n++
	}
	return n >= 2
}

// read calls f for every text of a message as a reader sees it. For the
// arguments of a call these are the decoded names and values, so that an
// escaped line feed is a line feed and not a letter n before the next word.
func read(m *message.Message, f func(string)) {
	for i := range m.Parts {
		p := &m.Parts[i]
		f(p.Text)
		f(p.Name)
		if len(p.Args) > 0 {
			readValues(p.Args, f)
		}
	}
}

// readValues calls f for the names and values of a JSON document, or for the
// whole text if it is not JSON.
func readValues(raw json.RawMessage, f func(string)) {
	if !json.Valid(raw) {
		f(string(raw))
		return
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return
		}
		switch v := t.(type) {
		case string:
			f(v)
		case json.Number:
			f(v.String())
		}
	}
}

// said calls f for every text of a message, unmodified.
func said(m *message.Message, f func(string)) {
	for i := range m.Parts {
		p := &m.Parts[i]
		f(p.Text)
		f(p.Name)
		f(string(p.Args))
	}
}
