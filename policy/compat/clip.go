package compat

import (
	"strings"

	"github.com/agentcompact/compact/token"
)

// clipUTF16 cuts s to n UTF-16 code units. The last three units of a cut text
// are dots if n is larger than 3. It never splits a character.
func clipUTF16(s string, n int) string {
	switch {
	case n <= 0:
		return ""
	case len(s) <= n || token.UTF16.Count(s) <= n:
		return s
	case n <= 3:
		return s[:prefixUTF16(s, n)]
	}
	return s[:prefixUTF16(s, n-3)] + "..."
}

// prefixUTF16 returns the length in bytes of the longest prefix with at most n
// code units.
func prefixUTF16(s string, n int) int {
	for i, r := range s {
		if n--; r > 0xFFFF {
			n--
		}
		if n < 0 {
			return i
		}
	}
	return len(s)
}

// isSpace implements the white space of JavaScript's \s and trim, because this
// form of summary comes from JavaScript. Unlike Go's, it includes U+FEFF and
// excludes U+0085.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

// foldSpace turns s into one line.
func foldSpace(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), isSpace), " ")
}
