package tidy

import (
	"sync"

	"github.com/agentcompact/compact/policy"
)

// Pools of lists, which later reductions reuse. A large result has tens of thousands of
// lines, and allocating and collecting lists of them would take longer than most
// reducers.
var (
	lineLists  sync.Pool // of *[]line
	pieceLists sync.Pool // of *[]policy.Segment
)

// mostLent is the largest capacity of a list that is kept for later results.
const mostLent = 1 << 16

// borrowedLists holds the lists borrowed by one reduction.
type borrowedLists struct {
	ofLines  []*[]line
	ofPieces []*[]policy.Segment
}

// lines returns an empty list with room for n lines.
func (l *borrowedLists) lines(n int) []line { return borrow(&lineLists, &l.ofLines, n) }

// pieces returns an empty list with room for at least n pieces.
func (l *borrowedLists) pieces(n int) []policy.Segment {
	return borrow(&pieceLists, &l.ofPieces, max(n, blockSegs))
}

// release returns all lists to the pools. Their contents must not be used
// afterwards.
func (l *borrowedLists) release() {
	giveBack(&lineLists, l.ofLines)
	giveBack(&pieceLists, l.ofPieces)
	*l = borrowedLists{}
}

func borrow[T any](from *sync.Pool, lent *[]*[]T, n int) []T {
	list, _ := from.Get().(*[]T)
	if list == nil || cap(*list) < n {
		made := make([]T, 0, n)
		list = &made
	}
	*lent = append(*lent, list)
	return *list
}

func giveBack[T any](to *sync.Pool, lent []*[]T) {
	for _, list := range lent {
		if n := cap(*list); n <= mostLent {
			clear((*list)[:n]) // otherwise the list would keep the text of the result in memory
			to.Put(list)
		}
	}
}
