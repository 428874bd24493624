package prose

import "strings"

// HasAnyWord reports whether a lower-case text contains one of the words as a whole word:
// "next" does not match in "v4.41.0-next.1". A word of a script without spaces matches
// anywhere.
func HasAnyWord(low string, words []string) bool {
	for _, w := range words {
		for from := 0; ; {
			i := strings.Index(low[from:], w)
			if i < 0 {
				break
			}
			start, end := from+i, from+i+len(w)
			if w[0] >= 0x80 || (start == 0 || !joins(low[start-1])) && (end == len(low) || !joins(low[end]) || low[end] == '.' && (end+1 == len(low) || low[end+1] == ' ')) {
				return true
			}
			from = end
		}
	}
	return false
}

// joins reports whether a byte belongs to a name: a letter, a digit, or a separator in
// versions, paths and flags.
func joins(b byte) bool { return IsWordByte(b) || strings.IndexByte("-./_", b) >= 0 }
