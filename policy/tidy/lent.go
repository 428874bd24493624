package tidy

import (
	"sync"

	"github.com/agentcompact/compact/policy"
)

// A large result has ten thousands of lines: to make and to collect lists of them
// would take longer than most reducers do. So what a reduction does not need any
// more serves the next one.
var (
	lineLists  sync.Pool // of *[]line
	pieceLists sync.Pool // of *[]policy.Segment
)

// mostLent is how many lines a list has at most that is held for the next result.
const mostLent = 1 << 16

// lent are the lists of one reduction.
type lent struct {
	ofLines  []*[]line
	ofPieces []*[]policy.Segment
}

// lines returns an empty list with room for n lines.
func (l *lent) lines(n int) []line { return borrow(&lineLists, &l.ofLines, n) }

// pieces returns an empty list with room for n pieces and more.
func (l *lent) pieces(n int) []policy.Segment {
	return borrow(&pieceLists, &l.ofPieces, max(n, blockSegs))
}

// back gives all lists back. Nothing may look at what is in them afterwards.
func (l *lent) back() {
	giveBack(&lineLists, l.ofLines)
	giveBack(&pieceLists, l.ofPieces)
	*l = lent{}
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
			clear((*list)[:n]) // it would hold the text of the result
			to.Put(list)
		}
	}
}
