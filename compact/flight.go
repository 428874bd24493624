package compact

import (
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace"
)

// written returns the time when a summary was finished; now if it is still being
// written. A discarded summary can have been ready for long.
func written(began time.Time, calls []summarize.CallInfo, now time.Time) time.Time {
	for _, i := range slices.Backward(calls) {
		if i.Phase == summarize.Finished {
			return began.Add(i.Elapsed)
		}
	}
	return now
}

// leave ends the use of a lane.
func (m *CompactManager) leave(s *session, l *lane, history []message.Message) {
	if forgotten := s.leave(l, history); forgotten != nil {
		m.throw(s, forgotten)
	}
}

// throw cancels the summary of a lane that leaves memory, and records its cost.
func (m *CompactManager) throw(s *session, l *lane) {
	began, calls, ok := l.flights.Throw()
	if !ok {
		return
	}
	began = m.onClock(began)
	name := m.nameOf(s.id)
	w := l.writes.Load()
	p, cost := w.unused(s.id, calls), w.cost(calls)
	cost.in(&p, w.card.Relative)
	m.bill(s, w.unit, cost.bill())
	e := trace.New(p, s.redactor.JSON(trace.Encode(p)), began, written(began, calls, m.now()))
	e.TraceID, e.Session = trace.NewTraceID(), name
	m.pipe.Emit(e)
	s.audit.add(s.redactor.JSON(e.AppendJSON(nil)))
}

// throwAll calls throw for all lanes of a session.
func (m *CompactManager) throwAll(s *session) {
	s.mu.Lock()
	all := make([]*lane, 0, len(s.lanes))
	for _, l := range s.lanes {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		m.throw(s, l)
	}
}

// throwUnused calls throwAll for all sessions in memory. It does not hold the manager's
// mutex during that time, because a running call can hold the lock of a summary and
// wait for that mutex.
func (m *CompactManager) throwUnused() {
	for _, s := range m.inMemory() {
		m.throwAll(s)
	}
}
