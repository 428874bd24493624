package bpe

// widest is the most parts that a window ever needs: the last quarter of it is
// more than what stands behind a window can have an effect on, in either
// vocabulary (a test proves it).
const widest = 2048

// countLong counts a piece that may have more parts than a window. It merges
// one window after the other, keeps the tokens that are far from where the
// window was cut, and goes on behind them.
//
// That is exact, because tokens in a row are what byte-pair encoding makes of
// their text if and only if every two neighbors are: each window is, and the
// seams are checked. Should a check fail (a text in which what stands behind a
// window decides how its beginning is merged), the piece is merged by larger
// windows, at last by the widest.
func (v *vocabulary) countLong(p *parts, b []byte) int {
	for {
		if n, ok := v.sweep(p, b); ok {
			return n
		}
		p = newParts(2 * len(p.token))
	}
}

// sweep merges b in windows of the size of p, or says that it can't. The last
// quarter of a window is not trusted, and never its last token.
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

// neighbors reports whether two tokens can stand side by side: whether
// byte-pair encoding of their text gives these two. It takes back merges on
// both sides of the border, the latest first, and looks for one across it that
// would have come before.
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
