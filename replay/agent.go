package replay

import (
	"context"
	"sync"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
)

// agentModel stands in for the agent's own model for summarizer.backend agent.
// The extractive backend writes the summary. It is billed as if the model had
// written the summary right after the previous request, which is in the cache.
type agentModel struct {
	view []message.Fingerprint // fingerprints of the previous view
	size int                   // tokens of its prompt

	mu    sync.Mutex // summaries are requested concurrently with the call
	asked price.Usage
}

// instructionTokens is the approximate size of an instruction.
const instructionTokens = 900

// last returns the request to which the instruction for a summary is appended.
func (a *agentModel) last() compact.LastRequest {
	if len(a.view) == 0 {
		return compact.LastRequest{}
	}
	size := a.size
	return compact.LastRequest{View: a.view, StandIn: true, Ask: func(context.Context, string) (compact.AgentAnswer, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked = a.asked.Plus(price.Usage{Cached: size, Fresh: instructionTokens})
		return compact.AgentAnswer{Usage: compact.Usage{PromptTokens: size + instructionTokens, CachedTokens: size, CacheKnown: true}}, nil
	}}
}

// billed records the prompt of a call, and returns the usage of its summary.
func (a *agentModel) billed(res *compact.Result) (u price.Usage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u, a.asked = a.asked, u; u.Prompt() > 0 && res.Summary != nil {
		u.Output = res.Summary.Tokens
	}
	a.size, a.view = res.After.Total, a.view[:0:0]
	for i := range res.Messages {
		a.view = append(a.view, res.Messages[i].Fingerprint())
	}
	return u
}
