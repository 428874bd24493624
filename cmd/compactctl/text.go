package main

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/agentcompact/compact/storage/record"
)

// count formats 12345 as 12,345.
func count(n int) string {
	s := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// things formats "1 message" and "1,200 messages".
func things(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + one + "s"
}

// printable makes foreign text safe for a terminal: control characters that move the
// cursor or change colors are displayed, and have no effect.
func printable(s string) string {
	safe := func(r rune) bool { return unicode.IsPrint(r) || r == '\n' || r == '\t' }
	if strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if safe(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// oneLine returns text as one line for a terminal.
func oneLine(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// sessionName returns the name of a session for a terminal. An id that one line would not
// show as it is (a line feed, blanks at its ends) is replaced by the name of its folder,
// which every command accepts as the id.
func sessionName(id string) string {
	if line := oneLine(id); line == id {
		return line
	}
	return record.EscapeSession(id)
}

// columnsOf returns the number of terminal columns that a text takes.
func columnsOf(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOfRune(r)
	}
	return n
}

func columnsOfRune(r rune) int {
	switch {
	case r < 0x300 && r != '\u00ad': // the first combining mark, and the soft hyphen
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r >= 0x1100:
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			return 2
		}
	}
	return 1
}

// clip shortens a text to n columns.
func clip(s string, n int) string {
	if columnsOf(s) <= n {
		return s
	}
	var b strings.Builder
	left := n - 1
	for _, r := range s {
		if left -= columnsOfRune(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

// wrap breaks a text between words into lines of at most n columns; a longer word
// gets a line of its own.
func wrap(text string, n int) []string {
	var lines []string
	for word := range strings.SplitSeq(text, " ") {
		last := len(lines) - 1
		if last >= 0 && columnsOf(lines[last])+1+columnsOf(word) <= n {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// left and right pad a text to n columns.
func left(s string, n int) string  { return s + strings.Repeat(" ", max(n-columnsOf(s), 0)) }
func right(s string, n int) string { return strings.Repeat(" ", max(n-columnsOf(s), 0)) + s }
