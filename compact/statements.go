package compact

import (
	"reflect"
	"slices"
	"sync"

	"github.com/agentcompact/compact/trace"
)

// A heldEvent is an estimate, or a decision not to compact. Its line is made at the end of
// the call, because the audit log leaves the line out if an earlier line states the same.
type heldEvent struct {
	at    int // index of its line in the call's lines
	event trace.Event
	about any // the payload without the figures that before_model_call has, too
}

// aboutEstimate returns what an estimate states besides the size of the request. The layers of
// before_model_call have its parts.
func aboutEstimate(p trace.TokenEstimate) trace.TokenEstimate {
	p.TEst, p.Breakdown, p.Messages, p.HistoryIn, p.Factor = 0, trace.Breakdown{}, 0, 0, 0
	return p
}

// aboutDecision returns what a decision states besides the size of the request and the
// candidates, whose prices depend on it.
func aboutDecision(p trace.TriggerDecision) trace.TriggerDecision {
	p.Checks = slices.Clone(p.Checks)
	for i := range p.Checks {
		if p.Checks[i].Value == float64(p.TEst) {
			p.Checks[i].Value = 0
		}
	}
	p.TEst, p.Estimated, p.Candidates = 0, 0, nil
	return p
}

// mostStatements is the number of lines that a session remembers: one estimate and one
// decision of each of eight agents that take turns.
const mostStatements = 16

// statements are recent lines of the audit log to which later lines can refer.
type statements struct {
	mu     sync.Mutex
	recent []statement // the oldest first
}

type statement struct {
	span  string
	about any
}

// span returns the span of a line that states the same, "" if there is none.
func (s *statements) span(about any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.recent) - 1; i >= 0; i-- {
		if reflect.DeepEqual(s.recent[i].about, about) {
			return s.recent[i].span
		}
	}
	return ""
}

func (s *statements) add(held []heldEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range held {
		s.recent = append(s.recent, statement{h.event.SpanID, h.about})
	}
	s.recent = slices.Delete(s.recent, 0, max(0, len(s.recent)-mostStatements))
}

// forget forgets all lines, because some were dropped before they were written.
func (s *statements) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent = nil
}
