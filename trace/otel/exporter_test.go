package otel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	sdktest "go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

var start = time.Date(2026, 11, 21, 4, 10, 0, 123_456_789, time.UTC)

// provider returns a program's own tracing, recorded.
func provider(t testing.TB, opts ...sdktrace.TracerProviderOption) (*sdktrace.TracerProvider, *sdktest.SpanRecorder) {
	t.Helper()
	rec := sdktest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(rec))...)
	t.Cleanup(func() {
		if err := tp.Shutdown(context.Background()); err != nil {
			t.Errorf("provider: %v", err)
		}
	})
	return tp, rec
}

func export(t *testing.T, e trace.Exporter, events ...trace.Event) {
	t.Helper()
	if err := e.Export(t.Context(), events); err != nil {
		t.Fatalf("Export: %v", err)
	}
}

func named(t *testing.T, spans []sdktrace.ReadOnlySpan, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	for _, s := range spans {
		if s.Name() == name {
			return s
		}
	}
	t.Fatalf("no span %s among %d", name, len(spans))
	return nil
}

func attributes(s sdktrace.ReadOnlySpan) map[string]any {
	m := map[string]any{}
	for _, a := range s.Attributes() {
		m[string(a.Key)] = a.Value.AsInterface()
	}
	return m
}

func TestExporterKeepsContract(t *testing.T) {
	t.Run("provider", func(t *testing.T) {
		tracetest.Run(t, func(t testing.TB) trace.Exporter {
			tp, _ := provider(t)
			return otel.New(tp)
		})
	})
	t.Run("live", func(t *testing.T) {
		tracetest.Run(t, func(t testing.TB) trace.Exporter { return open(t, newCollector(t).url) })
	})
	t.Run("dead", func(t *testing.T) {
		tracetest.Run(t, func(t testing.TB) trace.Exporter { return open(t, tracetest.DeadURL(t)) })
	})
}

func TestSpansAreChildrenOfTheCallersSpan(t *testing.T) {
	tp, rec := provider(t)
	e := otel.New(tp)
	p := trace.NewPipeline([]trace.Exporter{e}, nil)
	ctx, caller := tp.Tracer("agent").Start(t.Context(), "invoke_agent")

	traceID, parentID, found := trace.FromContext(p.Join(ctx))
	if !found || traceID != caller.SpanContext().TraceID().String() || parentID != caller.SpanContext().SpanID().String() {
		t.Fatalf("Join found %q, %q, %v", traceID, parentID, found)
	}
	events := tracetest.Sample(start)
	for i := range events {
		events[i].TraceID = traceID
	}
	events[len(events)-1].ParentID = parentID
	p.Emit(events...)
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	caller.End()

	spans := rec.Ended()
	hook := named(t, spans, trace.NameBeforeModelCall)
	if hook.Parent().SpanID() != caller.SpanContext().SpanID() || hook.SpanContext().TraceID() != caller.SpanContext().TraceID() {
		t.Errorf("the hook's parent is %v, want the caller's %v", hook.Parent(), caller.SpanContext())
	}
	for _, s := range spans {
		if strings.HasPrefix(s.Name(), "compact.") && s.Parent().SpanID() != hook.SpanContext().SpanID() {
			t.Errorf("%s is not a child of the hook", s.Name())
		}
	}
	if len(spans) != len(events)+1 {
		t.Errorf("%d spans, want %d", len(spans), len(events)+1)
	}
}

func TestSpansKeepMeasuredTimes(t *testing.T) {
	tp, rec := provider(t)
	export(t, otel.New(tp), tracetest.Sample(start)...)
	s := named(t, rec.Ended(), trace.NameTokenEstimate)
	if !s.StartTime().Equal(start) || s.EndTime().Sub(s.StartTime()) != 90*time.Microsecond {
		t.Errorf("from %v to %v", s.StartTime(), s.EndTime())
	}
}

func TestSpansFollowTheCallersSampling(t *testing.T) {
	tp, rec := provider(t, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample())))
	e := otel.New(tp)
	ctx, caller := tp.Tracer("agent").Start(t.Context(), "invoke_agent")
	defer caller.End()
	traceID, parentID, _ := trace.FromContext(e.Join(ctx))
	events := tracetest.Sample(start)
	for i := range events {
		events[i].TraceID = traceID
	}
	events[len(events)-1].ParentID = parentID
	export(t, e, events...)
	if n := len(rec.Ended()); n != 0 {
		t.Errorf("%d spans of a trace that is not sampled", n)
	}
}

func TestSpansWithoutCallerKeepTheTraceID(t *testing.T) {
	tp, rec := provider(t)
	events := tracetest.Sample(start)
	export(t, otel.New(tp), events...)
	for _, s := range rec.Ended() {
		if got := s.SpanContext().TraceID().String(); got != events[0].TraceID {
			t.Errorf("%s: trace id %s, want %s", s.Name(), got, events[0].TraceID)
		}
	}
	if hook := named(t, rec.Ended(), trace.NameBeforeModelCall); hook.Parent().IsValid() {
		t.Errorf("the hook has a parent: %v", hook.Parent())
	}
}

// The clock may be set back during a call.
func TestSpansNeverEndBeforeTheyBegin(t *testing.T) {
	for name, times := range map[string][2]time.Time{"set back": {start, start.Add(-time.Hour)}, "no end": {start, {}}, "no start": {{}, start}} {
		tp, rec := provider(t)
		ev := tracetest.Sample(start)[0]
		ev.ParentID, ev.Start, ev.End = "", times[0], times[1]
		export(t, otel.New(tp), ev)
		if s := rec.Ended()[0]; !s.StartTime().Equal(start) || !s.EndTime().Equal(start) {
			t.Errorf("%s: from %v to %v, want %v", name, s.StartTime(), s.EndTime(), start)
		}
	}
}

func TestChildrenWaitForTheirParentOverBatches(t *testing.T) {
	tp, rec := provider(t)
	e := otel.New(tp)
	events := tracetest.Sample(start)
	late := tracetest.Sample(start)[0]
	late.TraceID, late.ParentID = events[0].TraceID, events[len(events)-1].SpanID
	for i, ev := range events {
		if n := len(rec.Ended()); n != 0 {
			t.Fatalf("%d spans before the parent, after %d events", n, i)
		}
		export(t, e, ev)
	}
	export(t, e, late) // after its parent
	if n := len(rec.Ended()); n != len(events)+1 {
		t.Fatalf("%d spans, want %d", n, len(events)+1)
	}
	hook := named(t, rec.Ended(), trace.NameBeforeModelCall)
	if last := rec.Ended()[len(events)]; last.Parent().SpanID() != hook.SpanContext().SpanID() {
		t.Error("the parent of the late span is not the span of the hook")
	}
}

func TestOrphansBecomeSpansAtShutdown(t *testing.T) {
	tp, rec := provider(t)
	e := otel.New(tp)
	export(t, e, tracetest.Sample(start)[:3]...)
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(rec.Ended()); n != 3 {
		t.Errorf("%d spans, want 3", n)
	}
}

func TestOrphansAreBounded(t *testing.T) {
	tp, rec := provider(t)
	e := otel.New(tp)
	const calls = 2000
	for range calls {
		export(t, e, tracetest.Sample(start)[:3]...)
	}
	if n := len(rec.Ended()); n < 3*calls-4096 {
		t.Errorf("%d of %d spans, the others wait forever", n, 3*calls)
	} else if n == 3*calls {
		t.Error("once there were too many orphans, no child waits for its parent any more")
	}
}

func TestChildrenWaitAfterManyOtherEvents(t *testing.T) {
	tp, rec := provider(t)
	e := otel.New(tp)
	const calls = 1000
	for range calls {
		export(t, e, tracetest.Sample(start)...)
	}
	before := len(rec.Ended())
	export(t, e, tracetest.Sample(start)[:6]...)
	if n := len(rec.Ended()); before != 7*calls || n != before {
		t.Errorf("%d spans of %d calls, and %d more without their parent", before, calls, n-before)
	}
}

func TestAttributesFollowTheConventions(t *testing.T) {
	tp, rec := provider(t)
	events := tracetest.Sample(start)
	events[3].Data = redact.Lit(`{"session_id":"s","model":"gpt-4o-mini","backend":"openai","strategy":"task_state","attempts":2,"max_tokens":1500,` +
		`"input_tokens":81995,"summary_tokens":480,"prompt_tokens":82100,"completion_tokens":481,"cached_tokens":512,"temperature":0,"seed":42,"response_model":"gpt-4o-mini-2024","response_id":"chatcmpl-1",` +
		`"finish_reasons":["stop"],"server_address":"api.openai.com","server_port":443,"output_text":"Goals"}`)
	export(t, otel.New(tp), events...)
	call := named(t, rec.Ended(), "chat gpt-4o-mini")
	if call.SpanKind() != oteltrace.SpanKindClient {
		t.Errorf("kind = %v", call.SpanKind())
	}
	want := map[string]any{
		"gen_ai.conversation.id": tracetest.Session, "gen_ai.agent.name": "coding-agent",
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o-mini",
		"gen_ai.request.max_tokens": int64(1500), "gen_ai.request.temperature": 0.0,
		"gen_ai.usage.input_tokens": int64(82_100), "gen_ai.usage.output_tokens": int64(481),
		"gen_ai.usage.cache_read.input_tokens": int64(512), "gen_ai.request.seed": int64(42), "gen_ai.response.model": "gpt-4o-mini-2024",
		"gen_ai.response.id": "chatcmpl-1", "gen_ai.response.finish_reasons": []string{"stop"}, "server.address": "api.openai.com",
		"server.port": int64(443), "compact.event": trace.NameSummarize,
		"compact.kind": trace.KindLLM, "compact.trace_id": events[3].TraceID, "compact.span_id": events[3].SpanID,
		"compact.backend": "openai", "compact.strategy": "task_state", "compact.attempts": int64(2),
		"compact.input_tokens": int64(81_995), "compact.summary_tokens": int64(480),
	}
	if diff := cmp.Diff(want, attributes(call)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	estimate := attributes(named(t, rec.Ended(), trace.NameTokenEstimate))
	for key, want := range map[string]any{
		"compact.t_est": int64(112_345), "compact.max_tokens": int64(128_000), "compact.usage_pct": 0.8777,
		"compact.breakdown.tools_schema": int64(1500), "compact.model": "gpt-4", "gen_ai.request.model": nil,
	} {
		if got := estimate[key]; got != want {
			t.Errorf("%s = %v (%T), want %v (%T)", key, got, got, want, want)
		}
	}
	decision := attributes(named(t, rec.Ended(), trace.NameTriggerDecision))
	if got, _ := decision["compact.checks"].(string); !strings.HasPrefix(got, `[{"check":"usage_pct >= trigger_pct","met":true`) {
		t.Errorf("compact.checks = %q", got)
	}
}

func TestExtractiveSummaryIsNoModelCall(t *testing.T) {
	tp, rec := provider(t)
	events := tracetest.Sample(start)
	events[3].Data = redact.Lit(`{"session_id":"s","backend":"extractive","max_tokens":1500,"output_text":"Goals"}`)
	export(t, otel.New(tp), events...)
	call := attributes(named(t, rec.Ended(), trace.NameSummarize))
	if call["gen_ai.operation.name"] != nil || call["compact.max_tokens"] != int64(1500) {
		t.Errorf("attributes: %v", call)
	}
	if k := named(t, rec.Ended(), trace.NameSummarize).SpanKind(); k != oteltrace.SpanKindInternal {
		t.Errorf("kind = %v", k)
	}
}

func TestFailuresReturnErrors(t *testing.T) {
	tp, rec := provider(t)
	ev := tracetest.Sample(start)[0]
	ev.Name, ev.Kind, ev.Status, ev.ParentID = trace.NameError, trace.KindError, trace.StatusError, ""
	ev.Data = redact.Lit("{\"error_type\":\"SummarizerRefused\",\"fallback\":\"pruning-only\",\"chain\":[\"a\",\"b\xff\"],\"message\":\"refused twice\xff\"}")
	export(t, otel.New(tp), ev)
	s := rec.Ended()[0]
	if s.Status().Code != codes.Error || s.Status().Description != "refused twice\uFFFD" {
		t.Errorf("status = %+v", s.Status())
	}
	got := attributes(s)
	if got["error.type"] != "SummarizerRefused" || got["compact.fallback"] != "pruning-only" {
		t.Errorf("attributes: %v", got)
	}
	if diff := cmp.Diff([]string{"a", "b\uFFFD"}, got["compact.chain"]); diff != "" {
		t.Errorf("chain: %s", diff)
	}
}

func TestJoinLeavesContextsAlone(t *testing.T) {
	tp, _ := provider(t)
	e := otel.New(tp)
	if _, _, found := trace.FromContext(e.Join(t.Context())); found {
		t.Error("a span was found where there is none")
	}
	ctx, span := tp.Tracer("agent").Start(trace.ContextWith(t.Context(), "mine", "p"), "x")
	defer span.End()
	if id, _, _ := trace.FromContext(e.Join(ctx)); id != "mine" {
		t.Errorf("trace = %q: the caller's value must take precedence", id)
	}
}

func TestSpansOfAnySessionTraceID(t *testing.T) {
	tp, rec := provider(t)
	ev := tracetest.Sample(start)[0]
	ev.TraceID, ev.ParentID = "session-7f3a", ""
	export(t, otel.New(tp), ev)
	if got, want := rec.Ended()[0].SpanContext().TraceID().String(), trace.SessionTraceID("session-7f3a"); got != want {
		t.Errorf("trace id %s, want %s", got, want)
	}
}

// A key that is a whole number once and a fraction the next time must have one
// type for the backend.
func TestSharesAreNeverIntegers(t *testing.T) {
	tp, rec := provider(t)
	ev := tracetest.Sample(start)[0]
	ev.ParentID = ""
	ev.Data = redact.Lit(`{"usage_pct":1,"policy":{"trigger_pct":1},"timings_ms":{"count":2},"t_est":5,"compression_ratio":1,"summary_usd":1,"elapsed_ms":3,"calibration":1,"entity_retention":1}`)
	export(t, otel.New(tp), ev)
	for _, a := range rec.Ended()[0].Attributes() {
		want := attribute.FLOAT64
		switch {
		case a.Key == "compact.t_est":
			want = attribute.INT64
		case a.Value.Type() == attribute.STRING:
			continue
		}
		if a.Value.Type() != want {
			t.Errorf("%s is %v, want %v", a.Key, a.Value.Type(), want)
		}
	}
}

func Example() {
	rec := sdktest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec)) // the program's own
	p := trace.NewPipeline([]trace.Exporter{otel.New(provider)}, nil)

	ctx, span := provider.Tracer("agent").Start(context.Background(), "invoke_agent")
	traceID, parentID, _ := trace.FromContext(p.Join(ctx))
	at := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	p.Emit(trace.Event{
		Name: trace.NameBeforeModelCall, Kind: trace.KindPreflight, TraceID: traceID, ParentID: parentID,
		SpanID: trace.NewSpanID(), Start: at, End: at.Add(time.Millisecond), Data: redact.Lit(`{"output_text":"nothing to do"}`),
	})
	if err := p.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	span.End()
	for _, s := range rec.Ended() {
		fmt.Println(s.Name(), s.Parent().SpanID() == span.SpanContext().SpanID())
	}
	// Output:
	// before_model_call true
	// invoke_agent false
}
