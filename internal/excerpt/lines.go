package excerpt

import "unicode/utf8"

// A Hit is the position of a matching line, or of a line around a match.
type Hit struct {
	At      int // index of the line
	Matches bool
}

// Matching returns the positions of the matching lines and those around them,
// each once and in order. On an error it returns the positions found so far.
func Matching(m Matcher, lines []string, around int) (hits []Hit, err error) {
	next := 0
	around = min(max(around, 0), len(lines))
	for i, line := range lines {
		found, err := m.Find(line)
		if err != nil {
			return hits, err
		}
		if found == nil {
			continue
		}
		for k := max(next, i-around); k <= min(i+around, len(lines)-1); k++ {
			hits = append(hits, Hit{At: k})
			next = k + 1
		}
		for k := len(hits) - 1; k >= 0 && hits[k].At >= i; k-- {
			hits[k].Matches = hits[k].Matches || hits[k].At == i
		}
	}
	return hits, nil
}

// Fitting returns as many of the first lines as fit into a given number of bytes, and
// the size of the others in bytes.
func Fitting(lines []string, bytes int) (kept []string, left int) {
	for i, line := range lines {
		if len(line)+1 <= bytes || i == len(lines)-1 && len(line) <= bytes {
			bytes -= len(line) + 1
			continue
		}
		for _, l := range lines[i:] {
			left += len(l) + 1
		}
		left-- // the last line has no line feed
		kept = lines[:i:i]
		if i == 0 {
			head := line[:Prefix(line, bytes)]
			kept, left = []string{head}, left-len(head)
		}
		return kept, left
	}
	return lines, 0
}

// Prefix returns the length of the longest prefix of s that ends with a whole
// character and has at most n bytes.
func Prefix(s string, n int) int {
	n = min(max(n, 0), len(s))
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
