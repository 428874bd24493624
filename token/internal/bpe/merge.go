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
	token, pair := p.token[:p.n], p.pair[:p.n]
	for i := range last {
		pair[i] = v.join(token[i], token[i+1])
	}
	for {
		best, at := lowest(pair[:last])
		if best == none {
			break
		}
		token[at] = best
		for i := at + 1; i < last; i++ {
			token[i], pair[i-1] = token[i+1], pair[i]
		}
		last--
		if at > 0 {
			pair[at-1] = v.join(token[at-1], best)
		}
		if at < last {
			pair[at] = v.join(best, token[at+1])
		}
	}
	p.n = last + 1
}

// lowest returns the lowest rank and where it first stands.
func lowest(ranks []rank) (best rank, at int) {
	best = none
	for _, r := range ranks {
		best = min(best, r)
	}
	for i, r := range ranks {
		if r == best {
			return best, i
		}
	}
	return best, 0
}

// join returns the token that two tokens merge to, or none.
func (v *vocabulary) join(left, right rank) rank {
	if left|right < singles {
		return v.bytePair[int(v.bytes[left&0xFF])<<8|int(v.bytes[right&0xFF])] - 1
	}
	return v.find(left, right)
}

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
