package redact

import "slices"

// automaton finds many words at once, in one pass and ignoring ASCII case: it
// is a deterministic Aho-Corasick automaton. Bytes that no word uses share one
// class, which keeps the table small enough for the cache.
type automaton struct {
	class   [256]uint8
	stride  uint32
	next    []uint32   // state*stride + class → state*stride
	first   uint32     // this state and all higher ones end a word
	words   [][]uint16 // by (state-first)/stride: words that end in the state, longest first
	length  []int      // of each word
	longest int        // length of the longest word
}

// trieNode is a state while the automaton is being built.
type trieNode struct {
	next []int32 // by class, -1 = none
	fail int32
	out  []uint16
}

// newAutomaton builds the automaton of words, which are lower case and not
// empty. Word i is reported as i.
func newAutomaton(words []string) *automaton {
	a := &automaton{length: make([]int, len(words))}
	a.assignClasses(words)
	nodes := a.buildTrie(words)
	order := linkFailures(nodes)
	a.number(nodes, order)
	return a
}

func (a *automaton) assignClasses(words []string) {
	n := uint8(1)
	for _, w := range words {
		for i := range len(w) {
			c := w[i]
			if a.class[c] != 0 {
				continue
			}
			a.class[c] = n
			if 'a' <= c && c <= 'z' {
				a.class[c-'a'+'A'] = n
			}
			n++
		}
	}
	a.stride = uint32(n)
}

func (a *automaton) buildTrie(words []string) []trieNode {
	fresh := func() trieNode {
		n := trieNode{next: make([]int32, a.stride)}
		for i := range n.next {
			n.next[i] = -1
		}
		return n
	}
	nodes := []trieNode{fresh()}
	for id, w := range words {
		a.length[id] = len(w)
		a.longest = max(a.longest, len(w))
		at := int32(0)
		for i := range len(w) {
			c := a.class[w[i]]
			if nodes[at].next[c] < 0 {
				nodes = append(nodes, fresh())
				nodes[at].next[c] = int32(len(nodes) - 1)
			}
			at = nodes[at].next[c]
		}
		nodes[at].out = append(nodes[at].out, uint16(id))
	}
	return nodes
}

// linkFailures turns the trie into an automaton in which each state has a
// successor for each class, and returns the states in breadth-first order.
func linkFailures(nodes []trieNode) []int32 {
	order := []int32{0}
	for c, child := range nodes[0].next {
		if child < 0 {
			nodes[0].next[c] = 0
			continue
		}
		order = append(order, child)
	}
	for i := 1; i < len(order); i++ {
		n := &nodes[order[i]]
		n.out = append(n.out, nodes[n.fail].out...)
		for c, child := range n.next {
			if child < 0 {
				n.next[c] = nodes[n.fail].next[c]
				continue
			}
			nodes[child].fail = nodes[n.fail].next[c]
			order = append(order, child)
		}
	}
	return order
}

// number gives the highest numbers to the states that end a word, so that the
// scan needs one comparison per byte.
func (a *automaton) number(nodes []trieNode, order []int32) {
	slices.SortStableFunc(order, func(x, y int32) int {
		return min(len(nodes[x].out), 1) - min(len(nodes[y].out), 1)
	})
	renamed := make([]uint32, len(nodes))
	a.first = uint32(len(nodes)) * a.stride
	for i, old := range order {
		renamed[old] = uint32(i) * a.stride
		if len(nodes[old].out) > 0 {
			a.first = min(a.first, renamed[old])
			a.words = append(a.words, nodes[old].out)
		}
	}
	a.next = make([]uint32, len(nodes)*int(a.stride))
	for i, old := range order {
		for c, to := range nodes[old].next {
			a.next[i*int(a.stride)+c] = renamed[to]
		}
	}
}

// halfSize is the number of bytes of each half that [automaton.pair] reads.
const halfSize = 1024

// scan calls hit for each word in s with the end of the word, in the order of
// the ends. It allocates nothing.
//
// A step needs the state of the step before, so the processor waits for the
// table at each byte. Long texts are read as pairs of halves, alternating byte
// by byte, so that the wait for one half overlaps with the work on the other.
func (a *automaton) scan(s string, hit func(word uint16, end int)) {
	at, i := uint32(0), 0
	if len(s) >= 2*halfSize {
		var ends [2][halfSize]uint64
		for ; len(s)-i >= 2*halfSize; i += 2 * halfSize {
			middle := i + halfSize
			y, n, m := a.pair(at, a.at(s[middle-min(a.longest, halfSize):middle]), s[i:middle], s[middle:middle+halfSize], &ends)
			a.report(ends[0][:n], i, hit)
			a.report(ends[1][:m], middle, hit)
			at = y
		}
	}
	for next, first := a.next, a.first; i < len(s); i++ {
		at = next[at+uint32(a.class[s[i]])]
		if at >= first {
			a.tell(at, i+1, hit)
		}
	}
}

// at returns the state after s. A state depends only on the last bytes of a text, as many
// as the longest word has. So a text that ends with s has the same state if s has that
// many bytes.
func (a *automaton) at(s string) uint32 {
	at := uint32(0)
	for i := range len(s) {
		at = a.next[at+uint32(a.class[s[i]])]
	}
	return at
}

// pair reads two halves from the states x and y. It stores the states that end
// words, with the number of bytes read until then in the upper 32 bits, and
// returns the state after t and the numbers of stored states.
func (a *automaton) pair(x, y uint32, s, t string, ends *[2][halfSize]uint64) (after uint32, n, m int) {
	next, first := a.next, a.first
	s, t = s[:halfSize], t[:halfSize] // the compiler drops the checks of bounds
	for i := range halfSize {
		x = next[x+uint32(a.class[s[i]])]
		y = next[y+uint32(a.class[t[i]])]
		if x >= first {
			ends[0][n] = uint64(i+1)<<32 | uint64(x)
			n++
		}
		if y >= first {
			ends[1][m] = uint64(i+1)<<32 | uint64(y)
			m++
		}
	}
	return y, n, m
}

// report calls hit for the words of the states that pair stored for a half,
// which begins at from.
func (a *automaton) report(ends []uint64, from int, hit func(word uint16, end int)) {
	for _, e := range ends {
		a.tell(uint32(e), from+int(e>>32), hit)
	}
}

// tell calls hit for the words that end in a state.
func (a *automaton) tell(at uint32, end int, hit func(word uint16, end int)) {
	for _, w := range a.words[(at-a.first)/a.stride] {
		hit(w, end)
	}
}
