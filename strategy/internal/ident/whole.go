package ident

// Whole reports whether a word is one identifier and nothing else.
func Whole(word string) bool {
	whole := false
	ScanAll(word, func(_ Kind, start, end int) { whole = whole || start == 0 && end == len(word) })
	return whole
}
