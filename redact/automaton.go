package redact

import "slices"

// automaton finds many words at once, in one pass and without regard to ASCII
// case: an Aho-Corasick automaton made deterministic. Bytes that no word uses
// share one class, which keeps the table small enough for the cache.
type automaton struct {
	class  [256]uint8
	stride uint32
	next   []uint32   // state*stride + class → state*stride
	first  uint32     // this state and all higher ones end a word
	words  [][]uint16 // by (state-first)/stride: words that end in the state, longest first
	length []int      // of each word
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

// scan calls hit for each word in s with the end of the word. It allocates
// nothing.
func (a *automaton) scan(s string, hit func(word uint16, end int)) {
	next, first, at := a.next, a.first, uint32(0)
	for i := range len(s) {
		at = next[at+uint32(a.class[s[i]])]
		if at >= first {
			for _, w := range a.words[(at-first)/a.stride] {
				hit(w, i+1)
			}
		}
	}
}
