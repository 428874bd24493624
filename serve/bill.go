package serve

import (
	"iter"
	"maps"
	"sync"

	"github.com/agentcompact/compact/compact"
)

// Stats is what a handler did so far. Where it observes, it is what it would
// have done. All numbers are estimates that were made before the calls, of their
// prompts alone.
type Stats struct {
	Requests    int `json:"requests"` // of any kind, those that were refused here included
	Calls       int `json:"calls"`    // model calls that were held against the budget
	Compactions int `json:"compactions"`
	Recalls     int `json:"recalls"`    // calls of the recall tool that were answered
	Failures    int `json:"failures"`   // requests that went out as they came because something went wrong here
	Unanswered  int `json:"unanswered"` // requests that were not answered, or not to the end; tokens and money count them
	History     int `json:"history_tokens"`
	Sent        int `json:"sent_tokens"`

	// What the prompts cost in US dollars ([compact.Bill]): as they were sent, with
	// what summaries cost, and had each held its whole history. Unpriced calls are of
	// models whose price is not known; they are in neither.
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
	s.With, s.Without, s.Unpriced = h.bill.with, h.bill.without, h.bill.unpriced
	return s
}

// bill adds up what calls cost.
type bill struct {
	mu            sync.Mutex
	with, without float64
	unpriced      int
}

func (b *bill) add(of *compact.Bill) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if of == nil || of.Relative {
		b.unpriced++
		return
	}
	b.with += of.EstimatedUSD + of.SummaryUSD
	b.without += of.WholeUSD
}
