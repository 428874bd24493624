package serve

import (
	"context"
	"strings"
	"sync"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/price"
)

// Stats is what a handler did so far. Where it observes, it is what it would
// have done. All numbers are estimates that were made before the calls, of their
// prompts alone.
type Stats struct {
	Calls       int `json:"calls"` // model calls that were held against the budget
	Compactions int `json:"compactions"`
	Recalls     int `json:"recalls"`  // calls of the recall tool that were answered
	Failures    int `json:"failures"` // requests that went out as they came because something went wrong here
	History     int `json:"history_tokens"`
	Sent        int `json:"sent_tokens"`

	// What the prompts cost at list prices, in US dollars, with a prompt cache that
	// is warm: as they were sent, and had each held its whole history. After a
	// compaction nothing is taken to be in the cache. Unpriced calls are of models
	// whose price is not known; they are in neither.
	With     float64 `json:"usd_with"`
	Without  float64 `json:"usd_without"`
	Unpriced int     `json:"unpriced_calls"`
}

// Stats returns what the handler did so far.
func (h *Handler) Stats() Stats {
	c := h.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{Calls: c.calls, Compactions: c.compactions, Recalls: c.recalls, History: c.history, Sent: c.sent}
	for _, n := range c.failures {
		s.Failures += n
	}
	h.bill.mu.Lock()
	defer h.bill.mu.Unlock()
	s.With, s.Without, s.Unpriced = h.bill.with, h.bill.without, h.bill.unpriced
	return s
}

// bill adds up what calls cost. It remembers how long the last prompts of each
// conversation were, because that much of the next one is in the cache.
type bill struct {
	mu            sync.Mutex
	last          map[string]prompts
	with, without float64
	unpriced      int
}

// prompts are the tokens of one call.
type prompts struct{ sent, history int }

// maxLanes is of how many conversations the last prompt is remembered. One that
// is forgotten is billed as if nothing of it were in the cache.
const maxLanes = 4096

func (b *bill) add(ctx context.Context, of *compact.Result) {
	session, agent, branch := transport.Lane(ctx)
	branch, _, _ = strings.Cut(branch, ".") // the first call has no answer yet
	lane := session + "\x00" + agent + "\x00" + branch
	card, known := price.For(of.Model)
	b.mu.Lock()
	defer b.mu.Unlock()
	if !known {
		b.unpriced++
		return
	}
	had := b.last[lane]
	now := prompts{of.After.Total, of.TokensIn}
	if now.history < had.history { // another conversation, or one that was taken back
		had = prompts{}
	}
	if of.Triggered {
		had.sent = 0
	}
	b.with += card.Cost(card.Split(now.sent, min(had.sent, now.sent)))
	b.without += card.Cost(card.Split(now.history, had.history))
	if b.last == nil || len(b.last) >= maxLanes {
		b.last = map[string]prompts{}
	}
	b.last[lane] = now
}
