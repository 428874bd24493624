package compact

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/trace"
)

// sayRecall emits the event of a recall, in its own trace unless the caller has
// one.
func (m *CompactManager) sayRecall(ctx context.Context, s *session, p trace.Recalled, began time.Time, err error) {
	name, now := m.nameOf(s.id), m.now()
	p.SessionID = name.String()
	if err != nil && !errors.Is(err, ErrNotFound) {
		p.ErrorType = kindOf(err)
	}
	e := trace.New(p, s.redactor.JSON(trace.Encode(p)), began, now)
	e.Session = name
	if id, parent, ok := trace.FromContext(m.pipe.Join(ctx)); ok {
		e.TraceID, e.ParentID = id, parent
		e.Trace = m.traceInfo("", name, e.Agent, "", began, now)
	} else {
		e.TraceID = trace.NewTraceID()
		e.Trace = m.traceInfo(s.redactor.Text(p.Line()).String(), name, e.Agent, "", began, now)
	}
	m.pipe.Emit(e)
	s.audit.add(s.redactor.JSON(e.AppendJSON(nil)))
}
