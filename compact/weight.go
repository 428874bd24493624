package compact

import (
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
)

// Approximate memory in bytes besides texts, rather too high than too low.
const (
	sessionWeight = 32 << 10
	messageWeight = 1 << 10
	recipeWeight  = 256
	seenWeight    = 64
)

// weigh returns the approximate memory of a history in bytes: its texts, and
// the data about each message.
func weigh(history []message.Message) (bytes int64) {
	for i := range history {
		bytes += messageWeight + int64(len(history[i].Raw()))
		for k := range history[i].Parts {
			p := &history[i].Parts[k]
			bytes += int64(len(p.Text) + len(p.Args))
			if p.Media != nil {
				bytes += int64(len(p.Media.URL))
			}
		}
	}
	return bytes
}

// weighStep returns the approximate memory of a step in bytes.
func weighStep(step *ledger.Step) int64 {
	n := len(step.Evicted)
	for _, r := range step.Recipes {
		n += 1 + len(r.Texts)
		n += len(r.Copies)
		if r.Cut != nil {
			n += len(r.Cut.Removed)
		}
	}
	return int64(n+1) * recipeWeight
}
