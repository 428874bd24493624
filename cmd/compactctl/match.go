package main

import (
	"slices"

	"github.com/agentcompact/compact/compact"
)

// places returns, for each message of the history, its index in the view; -1 = none.
func places(res *compact.Result) []int {
	at := slices.Repeat([]int{-1}, len(res.Decisions))
	for k, i := range res.Sources {
		if i >= 0 {
			at[i] = k
		}
	}
	return at
}
