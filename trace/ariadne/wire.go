package ariadne

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/agentcompact/compact/trace"
)

// wireTrace and wireSpan are the two elements that the server accepts. Optional
// members must be absent, because the server rejects null.
type wireTrace struct {
	Type      string            `json:"type"`
	TraceID   string            `json:"trace_id"`
	Name      string            `json:"name,omitempty"`
	GroupID   string            `json:"group_id,omitempty"`
	StartedAt string            `json:"started_at,omitempty"`
	EndedAt   string            `json:"ended_at,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

func (w *wireTrace) encode() []byte {
	b, _ := json.Marshal(w) // only texts: it can't fail
	return b
}

type wireSpan struct {
	traceID, spanID, parentID string
	kind, name                string
	start, end                int64 // in milliseconds
	status                    trace.Status

	data    []byte // a JSON object; the last member
	session string // for data that must be replaced
}

// encode writes the span by hand, because there are thousands per second and
// data is JSON already.
func (s *wireSpan) encode() []byte {
	b := make([]byte, 0, 320+len(s.name)+len(s.data))
	b = append(b, `{"type":"span"`...)
	b = appendMember(b, "trace_id", s.traceID)
	b = appendMember(b, "span_id", s.spanID)
	b = appendOptional(b, "parent_id", s.parentID)
	b = appendOptional(b, "kind", s.kind)
	b = appendOptional(b, "name", s.name)
	b = appendStamp(b, "started_at", s.start)
	b = appendStamp(b, "ended_at", s.end)
	b = appendMember(b, "status", string(s.status))
	b = append(b, `,"data":`...)
	return append(append(b, s.data...), '}')
}

// item is one encoded element of a batch.
type item struct {
	json  []byte
	event int // 1 if the element stands for an event, 0 for a trace beside its span
	at    int // index of the event in its batch
}

// Reasons to drop an event that the server would refuse, or show wrongly.
var (
	errNoTraceID = errors.New("event has no trace id")
	errNoTime    = errors.New("event has no start and no end, or one outside of the years 1 to 9999")
)

// encode turns events into items. Before the first item of a trace it puts one
// trace element per batch, from the latest event that describes the trace. The
// viewer ignores all but the first element, so a complete one must not follow
// an open one.
func (e *Exporter) encode(events []trace.Event, t *tally) ([]item, []wireSpan) {
	infos := make(map[string]*trace.Event)
	for i := range events {
		if ev := &events[i]; ev.Trace != nil {
			infos[ev.TraceID] = ev
		}
	}
	spans := make([]wireSpan, len(events))
	for i := range events {
		spans[i] = e.span(&events[i])
	}
	items := make([]item, 0, len(events)+len(infos))
	for i := range events {
		ev := &events[i]
		if err := check(ev); err != nil {
			t.lose(1, err)
			continue
		}
		if info := infos[ev.TraceID]; info != nil {
			delete(infos, ev.TraceID)
			w := e.trace(info)
			items = append(items, item{w.encode(), eventIf(ev.SpanID == ""), i})
		}
		if ev.SpanID != "" {
			items = append(items, item{fit(&spans[i], e.body-len(`{"batch":[]}`)), 1, i})
		}
	}
	return items, spans
}

func eventIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func check(ev *trace.Event) error {
	start, end := times(ev)
	switch {
	case ev.TraceID == "":
		return errNoTraceID
	case ev.SpanID != "" && (!isPlausible(start) || !isPlausible(end)):
		return errNoTime
	}
	return nil
}

func isPlausible(t time.Time) bool {
	y := t.UTC().Year()
	return !t.IsZero() && y >= 1 && y <= 9999
}

// times returns the event's start and end. If one is missing, both are equal.
func times(ev *trace.Event) (start, end time.Time) {
	start, end = ev.Start, ev.End
	if start.IsZero() {
		start = end
	}
	if end.Before(start) {
		end = start
	}
	return start, end
}

// span returns the event's span. It places the span in time even if it is not
// sent in the end.
func (e *Exporter) span(ev *trace.Event) wireSpan {
	if ev.SpanID == "" || check(ev) != nil {
		return wireSpan{}
	}
	start, end := e.place(ev)
	status := trace.StatusOK
	if ev.Failed() {
		status = trace.StatusError
	}
	return wireSpan{
		traceID: ev.TraceID, spanID: ev.SpanID, parentID: ev.ParentID, kind: ev.Kind, name: clip(ev.Name, maxName),
		start: start, end: end, status: status, data: data(ev), session: ev.Session.String(),
	}
}

// place returns the interval of a span. A span that is offered again keeps its
// place.
func (e *Exporter) place(ev *trace.Event) (start, end int64) {
	if p, ok := e.kept[ev.SpanID]; ok {
		return p.start, p.end
	}
	return e.times.place(ev)
}

func (e *Exporter) trace(ev *trace.Event) wireTrace {
	info := ev.Trace
	w := wireTrace{
		Type: "trace", TraceID: ev.TraceID, Name: clip(info.Name.String(), maxName),
		GroupID: info.GroupID.String(), Metadata: metadata(ev),
	}
	start := info.Start
	if start.IsZero() {
		start = ev.Start
	}
	if !isPlausible(start) {
		return w
	}
	w.StartedAt = stamp(start.UnixMilli())
	if isPlausible(info.End) {
		w.EndedAt = stamp(e.times.traceEnd(ev.TraceID, max(start.UnixMilli(), info.End.UnixMilli())))
	}
	return w
}
