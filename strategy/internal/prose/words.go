package prose

import "strings"

// BeginsAny reports whether a text begins with one of the prefixes.
func BeginsAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// BeginsWord reports whether s begins with the words of prefix: "hi" does not
// begin "hide".
func BeginsWord(s, prefix string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	return ok && (rest == "" || strings.HasSuffix(prefix, " ") || !IsWordByte(rest[0]) && rest[0] < 0x80)
}

// HasAny reports whether a text contains one of the words.
func HasAny(low string, words []string) bool {
	for _, w := range words {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// IsDigits reports whether a text has no other characters than digits. The empty text has
// none.
func IsDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// LastLine returns the last line of a text, without the space around the text.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// IsWordByte reports whether a byte is an ASCII letter, a digit or an underscore.
func IsWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// IsLetter reports whether a character is an ASCII letter.
func IsLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }
