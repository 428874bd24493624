// Package otel turns events into OpenTelemetry spans: through the program's own
// TracerProvider ([New]), or directly to a collector by OTLP over HTTP
// ([NewOTLP]).
//
// The data of an event becomes attributes, with the names of the semantic
// conventions for generative AI where these define one, and otherwise as
// compact.<key>, with a dot for each level.
package otel

import (
	"context"
	"encoding/hex"
	"runtime/debug"
	"sync"

	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/internal/recent"
)

// scope is the instrumentation scope of the spans. schemaURL is the version of
// the conventions that their attributes follow.
const (
	scope     = "github.com/agentcompact/compact/trace/otel"
	schemaURL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
)

// version returns the version of this module in the program, "" if it is
// unknown.
var version = sync.OnceValue(func() string {
	const module = "github.com/agentcompact/compact"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == module && m.Version != "(devel)" {
			return m.Version
		}
	}
	return ""
})

// An Option configures an exporter through the program's own provider.
type Option func(*Exporter)

// Content includes the redacted texts of summaries and searches in the spans.
// The conventions make them opt-in.
func Content() Option { return func(e *Exporter) { e.content = true } }

// MarkCaller sets gen_ai.conversation.compacted on the caller's span, if it is
// still open when the events of a call with a summary are exported.
func MarkCaller() Option { return func(e *Exporter) { e.marks = newMarks() } }

// Exporter is a [trace.Exporter] and a [trace.Joiner] for OpenTelemetry. Like
// any exporter it is used from one goroutine at a time; Join may be called from
// others.
type Exporter struct {
	tracer  oteltrace.Tracer
	made    *recent.Map[string, oteltrace.SpanContext] // by the SpanID of their events
	callers *callers
	marks   *marks // nil: spans of callers are not marked
	content bool   // spans include texts of the conversation
	closed  bool

	// ownIDs is set if spans get the ids of their events. If it is not set, the
	// provider makes the ids, and the parent's span must be made before a child's.
	// The parent's event comes last, so the children's events wait.
	ownIDs  bool
	waiting map[string][]trace.Event // waiting events by ParentID
	count   int

	flush    func(context.Context) error // sends the spans of one Export
	shutdown func(context.Context) error
}

var (
	_ trace.Exporter = (*Exporter)(nil)
	_ trace.Joiner   = (*Exporter)(nil)
	_ trace.Named    = (*Exporter)(nil)
)

// maxWaiting is the maximum number of events that wait for their parents.
const maxWaiting = 4096

// New returns an exporter through the program's own provider, which the program
// flushes and shuts down. Spans are children of the span in the context of the
// call, and follow its sampling decision. The events of one call become spans
// when the call is over, with their original times. The provider makes the span
// ids; the events' own ids are in the attributes compact.trace_id and
// compact.span_id.
func New(provider oteltrace.TracerProvider, opts ...Option) *Exporter {
	nothing := func(context.Context) error { return nil }
	tracer := provider.Tracer(scope, oteltrace.WithInstrumentationVersion(version()), oteltrace.WithSchemaURL(schemaURL))
	e := &Exporter{
		tracer: tracer, made: recent.New[string, oteltrace.SpanContext](remembered),
		callers: newCallers(), waiting: map[string][]trace.Event{}, flush: nothing, shutdown: nothing,
	}
	for _, o := range opts {
		o(e)
	}
	return e
}

// Name is "otlp" for an exporter to a collector, "otel" for one through the
// program's own provider.
func (e *Exporter) Name() string {
	if e.ownIDs {
		return "otlp"
	}
	return "otel"
}

// Join finds the OpenTelemetry span in ctx. The events of the call become its
// children, or are not exported if it is not sampled.
func (e *Exporter) Join(ctx context.Context) context.Context {
	sc := oteltrace.SpanContextFromContext(ctx)
	if _, _, found := trace.FromContext(ctx); found || !sc.IsValid() {
		return ctx
	}
	e.callers.remember(sc)
	if e.marks != nil {
		e.marks.caller(oteltrace.SpanFromContext(ctx))
	}
	return trace.ContextWith(ctx, sc.TraceID().String(), sc.SpanID().String())
}

// Export turns the events into spans.
func (e *Exporter) Export(ctx context.Context, events []trace.Event) error {
	if e.closed {
		return trace.ErrShutdown
	}
	if len(events) == 0 {
		return nil
	}
	for i := range events {
		switch ev := &events[i]; {
		case ev.SpanID == "": // the event describes no span
		case e.mustWait(ev):
			e.waiting[ev.ParentID] = append(e.waiting[ev.ParentID], *ev)
			e.count++
		default:
			e.family(ev)
		}
	}
	if e.count > maxWaiting {
		e.orphans()
	}
	err := e.flush(ctx)
	if e.ownIDs && trace.NotSent(err) { // the events will be offered again
		return &trace.RetryError{Err: err}
	}
	return err
}

// Shutdown makes spans of the events whose parents never came. It shuts down
// the exporter's own provider, if there is one.
func (e *Exporter) Shutdown(ctx context.Context) error {
	if e.closed {
		return nil
	}
	e.closed = true
	e.orphans()
	if err := e.flush(ctx); err != nil {
		_ = e.shutdown(ctx) // the first error has more information
		return err
	}
	return e.shutdown(ctx)
}

// mustWait reports whether an event must wait for its parent. The event of the
// whole call never waits: its parent, if any, is the caller's span.
func (e *Exporter) mustWait(ev *trace.Event) bool {
	if e.ownIDs || ev.ParentID == "" || ev.Name == trace.NameBeforeModelCall {
		return false
	}
	_, made := e.made.Find(ev.ParentID)
	return !made
}

// family makes the span of an event, and the spans of the events that waited
// for it.
func (e *Exporter) family(ev *trace.Event) {
	e.span(ev)
	children := e.waiting[ev.SpanID]
	delete(e.waiting, ev.SpanID)
	e.count -= len(children)
	for i := range children {
		e.family(&children[i])
	}
}

// orphans makes spans of all waiting events.
func (e *Exporter) orphans() {
	for parent, children := range e.waiting {
		delete(e.waiting, parent)
		e.count -= len(children)
		for i := range children {
			e.family(&children[i])
		}
	}
}

func (e *Exporter) span(ev *trace.Event) {
	start, end := ev.Start, ev.End
	if start.IsZero() {
		start = end
	}
	if end.Before(start) {
		end = start
	}
	facts := read(ev, e.content)
	ctx := oteltrace.ContextWithSpanContext(context.Background(), e.parent(ev))
	if e.ownIDs {
		ctx = withIDs(ctx, ev)
	}
	_, span := e.tracer.Start(ctx, facts.name,
		oteltrace.WithTimestamp(start), oteltrace.WithSpanKind(facts.kind), oteltrace.WithAttributes(facts.attributes...))
	if ev.Failed() {
		span.SetStatus(codes.Error, facts.message)
	}
	span.End(oteltrace.WithTimestamp(end))
	e.made.Put(ev.SpanID, span.SpanContext())
	e.mark(ev, facts.compacted)
}

// mark marks the caller's span as compacted. The event of the whole call
// identifies that span; that event comes before or after the event of the
// summary.
func (e *Exporter) mark(ev *trace.Event, compacted bool) {
	switch {
	case e.marks == nil:
	case compacted:
		e.marks.summary(ev.ParentID)
	case ev.Name == trace.NameBeforeModelCall:
		e.marks.call(ev.SpanID, ids{traceIDOf(ev), spanIDOf(ev.ParentID)})
	}
}

// parent returns the context of the event's parent span: the span of its
// parent's event, the caller's span, or only the trace.
func (e *Exporter) parent(ev *trace.Event) oteltrace.SpanContext {
	if sc, made := e.made.Find(ev.ParentID); made && !e.ownIDs {
		return sc
	}
	return e.callers.find(traceIDOf(ev), spanIDOf(ev.ParentID))
}

// traceIDOf returns the event's trace id, or an id derived from it if
// OpenTelemetry can't use its form.
func traceIDOf(ev *trace.Event) oteltrace.TraceID {
	if id, err := oteltrace.TraceIDFromHex(ev.TraceID); err == nil {
		return id
	}
	var id oteltrace.TraceID
	_, _ = hex.Decode(id[:], []byte(trace.SessionTraceID(ev.TraceID))) // always 32 hex digits
	return id
}

// spanIDOf returns a span id, or the zero id if s has another form.
func spanIDOf(s string) oteltrace.SpanID {
	id, err := oteltrace.SpanIDFromHex(s)
	if err != nil {
		return oteltrace.SpanID{}
	}
	return id
}
