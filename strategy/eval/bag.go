package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastRun is the minimum number of consecutive names in a list.
const leastRun = 3

// readableShare is the minimum share of plain words in a readable line.
const readableShare = 0.25

// glue holds the words that may stand between the names of a list. A list has at least
// leastStrung names, and fewer than half as many words that are neither names nor glue.
var glue = map[string]bool{"and": true, "or": true, "und": true, "et": true, "names": true, "mentions": true, "holds": true,
	"the": true, "a": true, "in": true, "of": true, "with": true, "these": true, "message": true, "assistant": true}

const leastStrung = 4

// nameWord reports whether a word has a digit, a sign of names, or a small letter before a
// capital.
func nameWord(w string) bool {
	if strings.ContainsAny(w, `0123456789_/\.:=@#$%{}<>|`) {
		return true
	}
	small := false
	for _, r := range w {
		if small && unicode.IsUpper(r) {
			return true
		}
		small = unicode.IsLower(r)
	}
	return false
}

// plainWord reports whether a word belongs to a language and is not a name. A line in a
// script without spaces counts as one plain word.
func plainWord(w string) bool {
	w = strings.Trim(w, "\"'`()[]{},.;:!?*-–—→…")
	return w != "" && !nameWord(w) && strings.ContainsFunc(w, unicode.IsLetter)
}

// readable reports whether a line reads as a sentence.
func readable(l string) bool {
	words, plain := strings.Fields(l), 0
	for _, w := range words {
		plain += count(plainWord(w))
	}
	return len(words) > 0 && float64(plain) >= readableShare*float64(len(words))
}

// bag counts the characters in lists of names: runs of names without a word between them,
// names joined by glue words, and lines that consist almost only of names.
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

// strung reports whether a line is a list of joined names: it has four or more names, and
// fewer than half as many other words.
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
