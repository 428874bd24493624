package main

import (
	"slices"

	"github.com/agentcompact/compact/compact"
)

// places says for each message of the history where it is in the view; -1 is
// nowhere.
func places(res *compact.Result) []int {
	at := slices.Repeat([]int{-1}, len(res.Decisions))
	for k, i := range res.Sources {
		if i >= 0 {
			at[i] = k
		}
	}
	return at
}
