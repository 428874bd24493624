package testrun

import "strings"

// Uncolored removes the escape sequences of a terminal.
func Uncolored(s string) string {
	for {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			return s
		}
		end := i + 1
		for end < len(s) && end < i+12 && (s[end]|0x20 < 'a' || s[end]|0x20 > 'z') {
			end++
		}
		s = s[:i] + s[min(end+1, len(s)):]
	}
}
