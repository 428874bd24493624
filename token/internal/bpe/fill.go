package bpe

import "unicode/utf8"

// fill starts with the bytes of b, as many as there is room for, and returns
// their number. A character that is a token is one part from the start where
// its bytes can't merge with anything else before they have merged with each
// other. Where b is cut, it is cut between two characters.
func (p *parts) fill(v *vocabulary, b []byte) int {
	p.n = 0
	i := 0
	for i < len(b) && p.n <= len(p.token)-utf8.UTFMax {
		if b[i] < utf8.RuneSelf || !utf8.RuneStart(b[i]) { // a window may begin inside a character
			p.add(v.single[b[i]])
			i++
			continue
		}
		r, size := decode(b, i)
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
	if r > 0xFFFF {
		return none
	}
	t := v.char[r] - 1
	if t == none || i > 0 && v.borders.at(b[i-1], b[i]) < t || i+size < len(b) && v.borders.at(b[i+size-1], b[i+size]) < t {
		return none
	}
	return t
}

// borders says for two bytes at a border between characters, the last of one
// and the first of the next, the lowest rank of a merge across the border that
// takes only some of the bytes of a character beside it. All of ASCII is one
// byte here.
type borders [65][65]rank

func (s *borders) at(last, first byte) rank { return s[borderIndex(last)][borderIndex(first)] }

// borderIndex gives the number of a continuation byte, of a lead byte or of ASCII.
func borderIndex(b byte) int {
	if b < utf8.RuneSelf {
		return 64
	}
	return int(b & 0x3F)
}

// read reads the borders of a packed vocabulary: two bytes and a rank each.
func (s *borders) read(packed string) {
	for i := range s {
		for j := range s[i] {
			s[i][j] = none
		}
	}
	for ; len(packed) > 0; packed = packed[borderSize:] {
		r := rank(packed[2]) | rank(packed[3])<<8 | rank(packed[4])<<16
		s[borderIndex(packed[0])][borderIndex(packed[1])] = r
	}
}
