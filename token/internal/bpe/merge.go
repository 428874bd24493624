package bpe

import "unicode/utf8"

// window is how many parts are merged at once, where that is enough.
const window = 256

// parts is the row of tokens that a piece is at while it is merged. It is
// used for many pieces, one after the other.
type parts struct {
	token []rank
	pair  []rank // what token[i] and token[i+1] merge to
	n     int    // how many tokens there are
}

// merge joins neighbours, the pair of the lowest rank first and the leftmost
// of equal ones, until no two make a token.
//
// Looking for pairs among the merges alone is enough: two neighbours that
// together spell a token were made by the very merges that make that token
// from its bytes, for these happen in the same order whatever stands around.
// So they are the two that the token was merged from last.
func (p *parts) merge(v *vocabulary) {
	last := p.n - 1
	for i := range last {
		p.pair[i] = v.join(p.token[i], p.token[i+1])
	}
	for last > 0 {
		best, at := none, 0
		for i, r := range p.pair[:last] {
			if r < best {
				best, at = r, i
			}
		}
		if best == none {
			break
		}
		p.token[at] = best
		copy(p.token[at+1:last], p.token[at+2:last+1])
		copy(p.pair[at:last-1], p.pair[at+1:last])
		last--
		if at > 0 {
			p.pair[at-1] = v.join(p.token[at-1], best)
		}
		if at < last {
			p.pair[at] = v.join(best, p.token[at+1])
		}
	}
	p.n = last + 1
}

// join returns the token that two tokens merge to, or none.
func (v *vocabulary) join(left, right rank) rank {
	if left|right < singles {
		return v.bytePair[uint(v.packed[left])<<8|uint(v.packed[right])]
	}
	return v.lookup(left, right)
}

// fill starts with the bytes of b, as many as there is room for, and returns
// their number. A character that is a token is one part from the start where
// its bytes can't merge with anything else before they have merged with each
// other. Where b is cut, it is cut between two characters.
func (p *parts) fill(v *vocabulary, b []byte) int {
	p.n = 0
	i := 0
	for i < len(b) && p.n <= len(p.token)-utf8.UTFMax {
		if b[i] < utf8.RuneSelf {
			p.add(v.single[b[i]])
			i++
			continue
		}
		r, size := utf8.DecodeRune(b[i:])
		if whole := v.whole(b, i, size, r); whole != none {
			p.add(whole)
		} else {
			for _, c := range b[i : i+size] {
				p.add(v.single[c])
			}
		}
		i += size
	}
	return i
}

func (p *parts) add(r rank) {
	p.token[p.n] = r
	p.n++
}

// whole returns the token of the character r of this size at b[i] if it is
// safe to begin with it, else none.
func (v *vocabulary) whole(b []byte, i, size int, r rune) rank {
	if size == 1 || r > 0xFFFF {
		return none
	}
	t := v.char[r]
	if t == none || i > 0 && v.seams.at(b[i-1], b[i]) < t || i+size < len(b) && v.seams.at(b[i+size-1], b[i+size]) < t {
		return none
	}
	return t
}

// seams says for two bytes at a border between characters, the last of one and
// the first of the next, the lowest rank of a merge across the border that
// takes only some of the bytes of a character beside it. ASCII is one byte here.
type seams [65][65]rank

func (s *seams) at(last, first byte) rank { return s[lastIndex(last)][firstIndex(first)] }

func lastIndex(b byte) int {
	if b < utf8.RuneSelf {
		return 64
	}
	return int(b & 0x3F) // a continuation byte
}

func firstIndex(b byte) int {
	if b < utf8.RuneSelf {
		return 64
	}
	return int(b & 0x3F) // a lead byte, 0xC0 or more
}

func findSeams(v *vocabulary) seams {
	var s seams
	for i := range s {
		for j := range s[i] {
			s[i][j] = none
		}
	}
	for r := rank(singles); int(r) < v.size; r++ {
		l, rt := v.merged(r)
		left, right := v.text(l), v.text(rt)
		if !utf8.RuneStart(right[0]) || utf8.RuneStart(left[0]) && endsWhole(right) {
			continue
		}
		at := &s[lastIndex(left[len(left)-1])][firstIndex(right[0])]
		*at = min(*at, r)
	}
	return s
}

// endsWhole reports whether b ends with a complete character.
func endsWhole(b []byte) bool {
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax-1; i-- {
		if utf8.RuneStart(b[i]) {
			return utf8.FullRune(b[i:])
		}
	}
	return false
}

// indexChars enters the characters that are tokens.
func (v *vocabulary) indexChars() {
	for i := range v.char {
		v.char[i] = none
	}
	for r := rank(singles); int(r) < v.size; r++ {
		text := v.text(r)
		if len(text) > 3 || text[0] < utf8.RuneSelf {
			continue
		}
		if c, size := utf8.DecodeRune(text); size == len(text) && size > 1 {
			v.char[c] = r
		}
	}
}
