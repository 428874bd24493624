package policy

import (
	"sort"

	"github.com/agentcompact/compact/message"
)

//go:generate go run ../replay/internal/fitneeds -out needs_table.go ../../shared/transcripts/chat

// needsOf returns how many later calls are expected to need message m again, when
// it goes at the age of so many turns: by the rates of recorded sessions.
func needsOf(m *message.Message, age int) float64 {
	rates := &saidNeeds
	if m.Has(message.KindToolResult) {
		rates = &resultNeeds
	}
	k := sort.SearchInts(needAges[:], age+1) - 1
	return rates[max(k, 0)]
}
