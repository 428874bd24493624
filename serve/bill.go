package serve

import (
	"iter"
	"maps"
	"sync"

	"github.com/agentcompact/compact/compact"
)

// Stats counts the work of a handler so far. A handler that only observes counts
// the work that it would have done. Tokens and dollars are estimated before each
// call, for its prompt without the answer.
type Stats struct {
	Requests    int `json:"requests"` // of any kind, including requests that the handler refused
	Calls       int `json:"calls"`    // model calls whose prompt was compared with the budget
	Compactions int `json:"compactions"`
	Recalls     int `json:"recalls"`    // calls of the recall tool that were answered
	Failures    int `json:"failures"`   // errors in the handler; it sends such a request unchanged, unless Config.Strict is set
	Unanswered  int `json:"unanswered"` // requests without a complete answer; tokens and money include them, unless the provider could not be reached
	Unbilled    int `json:"unbilled"`   // calls that the provider refused or answered with an error, or that did not reach the provider; neither tokens nor money include them
	History     int `json:"history_tokens"`
	Sent        int `json:"sent_tokens"`

	// Costs of the prompts in US dollars ([compact.CompactManager.Bill]): With is the cost of the sent
	// prompts and of all summaries, also of those that no call used, and Without is the cost of the same
	// prompts with their whole histories. Neither includes unpriced calls (calls of a model without a known
	// price), nor Unbilled calls.
	With     float64 `json:"usd_with"`
	Without  float64 `json:"usd_without"`
	Unpriced int     `json:"unpriced_calls"`
}

// Stats returns the counts so far.
func (h *Handler) Stats() Stats {
	c := h.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	s := Stats{Calls: c.calls, Compactions: c.compactions, Recalls: c.recalls, Unbilled: c.free, History: c.history, Sent: c.sent}
	for _, of := range []iter.Seq[int]{maps.Values(c.requests), maps.Values(c.refusals)} {
		for n := range of {
			s.Requests += n
		}
	}
	for _, n := range c.failures {
		s.Failures += n
	}
	for _, n := range c.broken {
		s.Unanswered += n
	}
	h.bill.mu.Lock()
	defer h.bill.mu.Unlock()
	of := h.m.Bill()
	s.With, s.Without, s.Unpriced = of.EstimatedUSD+of.SummaryUSD+h.bill.with, of.WholeUSD+h.bill.without, h.bill.unpriced
	return s
}

// bill adds up the costs of observed calls, and counts all calls without a price.
type bill struct {
	mu            sync.Mutex
	with, without float64
	unpriced      int
}

func (b *bill) add(of *compact.Bill, observed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case of == nil || of.Relative:
		b.unpriced++
		return
	case !observed:
		return // the manager adds them up
	}
	b.with += of.EstimatedUSD + of.SummaryUSD
	b.without += of.WholeUSD
}

// take takes the prompt of an observed call out of the sums. A summary is paid for in any
// case.
func (b *bill) take(of *compact.Bill, observed bool) {
	if of == nil || of.Relative || !observed {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.with -= of.EstimatedUSD
	b.without -= of.WholeUSD
}
