package bpe

import "unicode/utf8"

// fill fills p with the bytes of b, as many as there is room for, and returns
// their number. If a character is a token, and its bytes always merge with each
// other before they can merge with other bytes, the character is one part from
// the start. If b does not fit, it is cut between two characters.
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

// whole returns the token of the character r with this size at b[i] if it is safe
// to start with that token, otherwise none.
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

// borders holds, for the last byte of a character and the first byte of the next
// one, the lowest rank of a merge across the border that takes only a part of one
// of the two characters. All ASCII bytes share an index.
type borders [65][65]rank

func (s *borders) at(last, first byte) rank { return s[borderIndex(last)][borderIndex(first)] }

// borderIndex returns the index of a continuation byte, a lead byte or ASCII.
func borderIndex(b byte) int {
	if b < utf8.RuneSelf {
		return 64
	}
	return int(b & 0x3F)
}

// read decodes the borders of a packed vocabulary: two bytes and a rank each.
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
