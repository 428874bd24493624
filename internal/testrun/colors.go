package testrun

import "strings"

// Uncolored removes the escape sequences of a terminal.
func Uncolored(s string) string {
	i := strings.IndexByte(s, 0x1b)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, 0x1b) {
		b.WriteString(s[:i])
		end := i + 1
		for end < len(s) && end < i+12 && (s[end]|0x20 < 'a' || s[end]|0x20 > 'z') {
			end++
		}
		s = s[min(end+1, len(s)):]
	}
	b.WriteString(s)
	return b.String()
}
