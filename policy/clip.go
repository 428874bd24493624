package policy

import (
	"strings"

	"github.com/agentcompact/compact/token"
)

// clipUTF16 cuts s to n units, the last three of them dots where there is
// room. It never cuts a character in two.
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

// prefixUTF16 returns the length in bytes of the longest prefix of at most n
// units.
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

// isSpace is the white space of JavaScript's \s and trim, where this form of
// summary comes from: unlike Go's it has U+FEFF and lacks U+0085.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

// foldSpace makes one line of s.
func foldSpace(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), isSpace), " ")
}
