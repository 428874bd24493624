package bpe

// widest is the largest number of parts that a window needs. Its last quarter is
// larger than the range in which the text after a window can affect the tokens,
// in either vocabulary (a test proves it).
const widest = 2048

// countLong counts a piece that may have more parts than a window. It merges one
// window after the other, keeps the tokens that are far from the end of the
// window, and continues after them.
//
// The result is exact: a sequence of tokens is the byte-pair encoding of its
// text if and only if the same is true of every two neighbors. That is true
// within a window, and countLong checks it at the seams. If a check fails,
// because the text after a window affects how its beginning is merged,
// countLong merges the piece again with larger windows, up to widest.
func (v *vocabulary) countLong(p *parts, b []byte) int {
	for {
		if n, ok := v.sweep(p, b); ok {
			return n
		}
		p = newParts(2 * len(p.token))
	}
}

// sweep merges b in windows of the size of p. ok is false if a seam check fails.
// It does not trust the last quarter of a window, and never the last token.
func (v *vocabulary) sweep(p *parts, b []byte) (tokens int, ok bool) {
	last := none
	for {
		used := p.fill(v, b)
		p.merge(v)
		if last != none && !v.neighbors(last, p.token[0]) {
			return 0, false
		}
		if used == len(b) {
			return tokens + p.n, true
		}
		if p.n == 1 {
			return 0, false
		}
		keep, trusted := p.n, used-len(p.token)/4
		for keep > 1 && (keep == p.n || used > trusted) {
			keep--
			used -= v.spelling[p.token[keep]].length()
		}
		b, tokens, last = b[used:], tokens+keep, p.token[keep-1]
	}
}

// neighbors reports whether byte-pair encoding of the text of two tokens gives
// these two. It undoes merges on both sides of the border, the latest first, and
// looks for an earlier merge across the border.
func (v *vocabulary) neighbors(left, right rank) bool {
	limit := none
	for {
		if v.join(left, right) < limit {
			return false
		}
		if max(left, right) < singles {
			return true
		}
		if left > right {
			limit = left
			_, left = v.halves(left)
		} else {
			limit = right + 1
			right, _ = v.halves(right)
		}
	}
}
