package strategy

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
)

// withoutGutter returns line i of a listing without its line number. A number is a line
// number only if a tab or an arrow follows it, or if a colon or a bar follows it and the
// line before or after it has the neighboring number. All other numbers belong to the text:
// a hash, a date, an amount, a status.
func withoutGutter(lines []string, i int) string {
	line := plainLine(lines[i])
	n, mark, rest := lineNumber(line)
	if mark == 0 || (mark == ':' || mark == '|') && !numbered(lines, i-1, n-1, mark) && !numbered(lines, i+1, n+1, mark) {
		return line
	}
	return strings.TrimSpace(rest)
}

// listsCode reports whether most lines of a text have the numbers of a listing. Such lines
// are code and no sentences.
func listsCode(text string) bool {
	lines := strings.Split(text, "\n")
	n := 0
	for i := range lines {
		if withoutGutter(lines, i) != plainLine(lines[i]) {
			n++
		}
	}
	return 2*n > len(lines)
}

func plainLine(line string) string { return strings.TrimSpace(testrun.Uncolored(line)) }

// numbered reports whether line i begins with a number and a mark.
func numbered(lines []string, i, number int, mark rune) bool {
	if i < 0 || i >= len(lines) {
		return false
	}
	n, m, _ := lineNumber(plainLine(lines[i]))
	return m == mark && n == number
}

// lineNumber cuts a line into a number at its beginning, the mark that follows it, and the
// rest. The mark is 0 if the line does not begin like a line of a listing.
func lineNumber(line string) (n int, mark rune, rest string) {
	end := 0
	for end < len(line) && end < mostDigits && line[end] >= '0' && line[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(line[:end])
	if err != nil {
		return 0, 0, line
	}
	mark, size := utf8.DecodeRuneInString(line[end:])
	if !strings.ContainsRune("\t→:|", mark) {
		return 0, 0, line
	}
	return n, mark, line[end+size:]
}

// mostDigits is the maximum number of digits of a line number.
const mostDigits = 7

// withoutReader removes the elements in which a reading tool wraps a file: its path, its
// type, and its content.
func withoutReader(text string) string {
	if !strings.HasPrefix(text, "<path>") {
		return text
	}
	if at := strings.Index(text[:boundary(text, min(len(text), edge))], readerContent); at >= 0 {
		return strings.TrimLeft(text[at+len(readerContent):], "\n")
	}
	return text
}

// readerContent begins the content of a file in the result of a reading tool.
const readerContent = "<content>"
