package eval

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastRun is the number of consecutive names that make a list.
const leastRun = 3

// readableShare is the share of plain words that makes a line readable.
const readableShare = 0.25

// Names joined by glue words also make a list, from leastStrung names on,
// unless the line has at least half as many other words.
var glue = map[string]bool{"and": true, "or": true, "und": true, "et": true, "names": true, "mentions": true, "holds": true,
	"the": true, "a": true, "in": true, "of": true, "with": true, "these": true, "message": true, "assistant": true}

const leastStrung = 4

var nameWord = regexp.MustCompile(`[0-9_/\\.:=@#$%{}<>|]|\p{Ll}\p{Lu}`)

// plainWord reports whether a word is a word of a language and not a name. A
// line in a script without spaces is one plain word.
func plainWord(w string) bool {
	w = strings.Trim(w, "\"'`()[]{},.;:!?*-–—→…")
	return w != "" && !nameWord.MatchString(w) && strings.ContainsFunc(w, unicode.IsLetter)
}

// readable reports whether a line reads as a sentence.
func readable(l string) bool {
	words, plain := strings.Fields(l), 0
	for _, w := range words {
		plain += count(plainWord(w))
	}
	return len(words) > 0 && float64(plain) >= readableShare*float64(len(words))
}

// bag counts the characters in lists of names: runs of names without a word
// between them, names joined by glue words, and lines of hardly anything but
// names.
func bag(text string) int {
	n := 0
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "#") {
			continue
		}
		if l = strings.TrimSpace(l); strung(l) || !readable(l) && len(strings.Fields(l)) >= leastRun {
			n += utf8.RuneCountInString(l)
			continue
		}
		n += runs(strings.Fields(l))
	}
	return n
}

// strung reports whether a line is a list of joined names: four or more, and
// fewer than half as many words about them.
func strung(l string) bool {
	names, said := 0, 0
	for _, w := range strings.Fields(l) {
		switch bare := strings.ToLower(strings.Trim(w, ".,;:")); {
		case glue[bare] || !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		case plainWord(w):
			said++
		default:
			names++
		}
	}
	return names >= leastStrung && 2*said < names
}

// runs counts the characters of the runs of names among words.
func runs(words []string) int {
	total, chars, names := 0, 0, 0
	flush := func() {
		if names >= leastRun {
			total += chars
		}
		chars, names = 0, 0
	}
	for _, w := range words {
		if plainWord(w) {
			flush()
			continue
		}
		if !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			continue // punctuation
		}
		chars += utf8.RuneCountInString(w) + 1
		names++
	}
	flush()
	return total
}

// readableLines returns the text without unreadable lines.
func readableLines(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		if readable(l) && !strung(l) {
			b.WriteString(l)
		}
	}
	return b.String()
}
