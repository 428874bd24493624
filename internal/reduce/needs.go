package reduce

import (
	"sort"

	"github.com/agentcompact/compact/message"
)

//go:generate go run ../../replay/internal/fitneeds -out needs_table.go ../../../shared/transcripts/chat

// needsOf returns the expected number of later calls that need message m again
// if it is removed at the given age in turns. The rates come from recorded
// sessions.
func needsOf(m *message.Message, age int) float64 {
	rates := &saidNeeds
	if m.Has(message.KindToolResult) {
		rates = &resultNeeds
	}
	k := sort.SearchInts(needAges[:], age+1) - 1
	return rates[max(k, 0)]
}
