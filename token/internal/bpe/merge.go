package bpe

// window is the number of parts that are merged at once, unless a larger window
// is necessary.
const window = 256

// parts holds the tokens of a piece while they are merged. It is a linked list,
// with the lowest pair of each block, which speeds up the search for the lowest
// pair.
type parts struct {
	token []rank
	pair  []rank   // the token that a token and the next one form; none for a token that was merged into another
	next  []uint32 // links between the remaining tokens
	prev  []uint32
	least []rank // the lowest pair of each block
	n     int    // number of tokens
}

// block is the number of pairs that share an entry of parts.least.
const block = 16

// newParts returns parts with room for size tokens, a multiple of block.
func newParts(size int) *parts {
	return &parts{
		token: make([]rank, size), pair: make([]rank, size), least: make([]rank, size/block),
		next: make([]uint32, size), prev: make([]uint32, size),
	}
}

// merge joins neighbors until no two make a token: always the pair with the
// lowest rank, and the leftmost of equal ones. The remaining tokens are at the
// beginning of p.token.
//
// It is enough to look for pairs among the merges. If two neighbors together
// spell a token, they were made by the same merges that make that token from its
// bytes, because these happen in the same order in any context. So they are the
// two halves of the token's last merge.
func (p *parts) merge(v *vocabulary) {
	if p.n <= block {
		p.mergeFew(v)
		return
	}
	blocks := p.link(v)
	for {
		at := p.lowest(blocks)
		if at < 0 {
			break
		}
		p.join(v, at)
	}
	n := 0
	for i := 0; i < p.n; i = int(p.next[i]) {
		p.token[n] = p.token[i]
		n++
	}
	p.n = n
}

// mergeFew is merge for so few parts that shifting them takes less time than
// maintaining a list.
func (p *parts) mergeFew(v *vocabulary) {
	token, pair, last := (*[block]rank)(p.token), (*[block]rank)(p.pair), p.n-1
	for i := range last {
		pair[i] = v.join(token[i], token[i+1])
	}
	for last > 0 {
		best, at := none, 0
		for i, r := range pair[:last] {
			if r < best {
				best, at = r, i
			}
		}
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

// link builds the list and returns the number of blocks.
func (p *parts) link(v *vocabulary) int {
	last := p.n - 1
	for i := range last {
		p.pair[i] = v.join(p.token[i], p.token[i+1])
		p.next[i], p.prev[i+1] = uint32(i+1), uint32(i)
	}
	p.next[last] = uint32(p.n)
	blocks := last/block + 1
	for i := last; i < blocks*block; i++ {
		p.pair[i] = none
	}
	for k := range blocks {
		p.settle(k)
	}
	return blocks
}

// settle finds the lowest pair of block k.
func (p *parts) settle(k int) {
	least := none
	for _, r := range (*[block]rank)(p.pair[k*block:]) {
		least = min(least, r)
	}
	p.least[k] = least
}

// lowest returns the index of the lowest pair, or -1 if no pair makes a token.
func (p *parts) lowest(blocks int) int {
	best, in := none, 0
	for k, r := range p.least[:blocks] {
		if r < best {
			best, in = r, k
		}
	}
	if best == none {
		return -1
	}
	at := in * block
	for p.pair[at] != best {
		at++
	}
	return at
}

// join replaces the pair at i by one token.
func (p *parts) join(v *vocabulary, i int) {
	token, gone := p.pair[i], int(p.next[i])
	after := int(p.next[gone])
	p.token[i], p.pair[i], p.pair[gone] = token, none, none
	p.next[i] = uint32(after)
	if after < p.n {
		p.prev[after] = uint32(i)
		p.pair[i] = v.join(token, p.token[after])
	}
	if i > 0 {
		before := int(p.prev[i])
		p.pair[before] = v.join(p.token[before], token)
		if before/block != i/block {
			p.settle(before / block)
		}
	}
	p.settle(i / block)
	if gone/block != i/block {
		p.settle(gone / block)
	}
}

// join returns the token that two tokens merge to, or none.
func (v *vocabulary) join(left, right rank) rank {
	if left|right < singles {
		return v.bytePair[int(v.bytes[left&0xFF])<<8|int(v.bytes[right&0xFF])] - 1
	}
	return v.find(left, right)
}
