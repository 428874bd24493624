package policy

import (
	"sort"
	"unicode/utf8"
)

const step = 2048 // number of bytes counted at once in the search for a cut

// prefix returns the length of the longest prefix, on a rune boundary, that
// costs about room tokens. It counts only the prefix, not the whole text.
func prefix(cost Coster, text string, room int) int {
	if room <= 0 {
		return 0 // not even an empty text fits
	}
	at, used := 0, 0
	for at < len(text) {
		next := boundary(text, min(at+step, len(text)))
		n := cost.Text(text[at:next])
		if used+n > room {
			width := sort.Search(next-at, func(w int) bool {
				return used+cost.Text(text[at:boundary(text, at+w+1)]) > room
			})
			return boundary(text, at+width)
		}
		at, used = next, used+n
	}
	return at
}

// suffix returns the start of the longest suffix that costs about room tokens.
func suffix(cost Coster, text string, room int) int {
	if room <= 0 {
		return len(text)
	}
	at, used := len(text), 0
	for at > 0 {
		next := boundary(text, max(at-step, 0))
		n := cost.Text(text[next:at])
		if used+n > room {
			width := sort.Search(at-next, func(w int) bool {
				return used+cost.Text(text[boundary(text, at-w-1):at]) > room
			})
			for at -= width; at < len(text) && !utf8.RuneStart(text[at]); {
				at++
			}
			return at
		}
		at, used = next, used+n
	}
	return at
}

// boundary returns the start of the rune that holds byte i.
func boundary(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// sliceBytes keeps n bytes of text; for formBoth, half of them at each end. It
// returns the segments and the resulting text.
func sliceBytes(text string, n int, mark Mark, marker string) ([]Segment, string) {
	switch mark.Form {
	case formTail:
		at := forward(text, len(text)-n)
		return []Segment{{Mark: &mark}, {From: at, To: len(text)}}, marker + text[at:]
	case formBoth:
		head := boundary(text, n/2)
		tail := max(forward(text, len(text)-n/2), head)
		return []Segment{{To: head}, {Mark: &mark}, {From: tail, To: len(text)}}, text[:head] + marker + text[tail:]
	}
	at := boundary(text, n)
	return []Segment{{To: at}, {Mark: &mark}}, text[:at] + marker
}

// forward returns the first rune start at or after byte i.
func forward(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	return i
}
