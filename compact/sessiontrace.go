package compact

import (
	"cmp"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// beginTrace returns the start of the session's trace, which is the time of its
// first call.
func (s *session) beginTrace(at time.Time) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trace.began.IsZero() {
		s.trace.began = at
	}
	return s.trace.began
}

// traced records the names for the end of the trace.
func (s *session) traced(session, agent redact.Text, model string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trace.session, s.trace.agent, s.trace.model = session, agent, model
}

// endTrace emits the event that ends the trace of a session. It is not a span.
func (m *CompactManager) endTrace(s *session) {
	s.mu.Lock()
	t := s.trace
	s.trace = sessionTrace{}
	s.mu.Unlock()
	if t.session.Len() == 0 {
		return
	}
	now := m.now()
	if now.Before(t.began) { // the clock ran backwards
		now = t.began
	}
	e := trace.Event{
		Name: trace.NameSession, Kind: trace.KindSession, TraceID: trace.SessionTraceID(s.id), Session: t.session, Agent: t.agent,
		Start: t.began, End: now, Status: trace.StatusOK, Trace: m.traceInfo("", t.session, t.agent, t.model, t.began, now),
	}
	m.pipe.Emit(e)
	s.audit.add(s.redactor.JSON(e.AppendJSON(nil)))
}

// endTraces ends the traces of all sessions in memory.
func (m *CompactManager) endTraces() {
	for _, s := range m.inMemory() {
		m.endTrace(s)
	}
}

// traceInfo returns the data by which viewers list and group traces; session and
// agent are redacted already. name is the title in lists; "": the session's. A
// zero end means that the trace is open.
func (m *CompactManager) traceInfo(name string, session, agent redact.Text, model string, start, end time.Time) *trace.TraceInfo {
	heading := "session " + headAndTail(session.String())
	if agent.Len() > 0 {
		heading += " (" + agent.String() + ")"
	}
	label := m.redactor.Text(heading)
	if !end.IsZero() && end.Before(start) { // the clock ran backwards
		end = start
	}
	return &trace.TraceInfo{
		Name: m.redactor.Text(cmp.Or(name, heading)), GroupID: session, Start: start, End: end,
		Metadata: map[string]redact.Text{"session_id": session, "agent_id": session, "agent_name": label, "model": m.redactor.Text(model)},
	}
}

// headAndTail returns an id, or the beginning and the end of a long one, so that
// ids with the same beginning stay different.
func headAndTail(id string) string {
	const most, head, tail = 48, 24, 20
	r := []rune(id)
	if len(r) <= most {
		return id
	}
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}
