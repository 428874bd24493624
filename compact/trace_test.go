package compact_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
	"github.com/agentcompact/compact/trace/tracetest"
)

func TestCompactionIsATreeOfSpansInAriadne(t *testing.T) {
	server := ariadnetest.NewServer(t)
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Trace.AriadneURL = "gpt-4", 8_000, mustOpen(t, t.TempDir()), server.URL
	r := newRig(t, c)
	if res := r.preflight(loop(100, 200)); res.Summary == nil {
		t.Fatal("no summary")
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	parent := server.Spans(trace.NameBeforeModelCall)
	if len(parent) != 1 {
		t.Fatalf("%d parents, want 1", len(parent))
	}
	for _, name := range []string{
		trace.NameTokenEstimate, trace.NameTriggerDecision, trace.NameArchival, trace.NameSummarize,
		trace.NameSummaryCreated, trace.NamePrunedMessages,
	} {
		spans := server.Spans(name)
		if len(spans) != 1 {
			t.Errorf("%d spans %s, want 1", len(spans), name)
			continue
		}
		if spans[0].ParentID != parent[0].SpanID {
			t.Errorf("%s is no child of before_model_call", name)
		}
	}
}

// foreign is an exporter to a tracing system in which the caller has a span.
type foreign struct{ tracetest.Recorder }

func (*foreign) Join(ctx context.Context) context.Context {
	return trace.ContextWith(ctx, "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7")
}

func TestEventsOfACallAreBelowTheCallersSpan(t *testing.T) {
	r := newRig(t, compact.Config{Exporters: []trace.Exporter{&foreign{}}})
	r.preflight(turns(2, 10))
	parents := r.named(trace.NameBeforeModelCall)
	if len(parents) != 1 || parents[0].TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || parents[0].ParentID != "00f067aa0ba902b7" {
		t.Errorf("before_model_call is %+v", parents)
	}
}

func TestUntriggeredCallSendsParentEstimateAndDecisionOnly(t *testing.T) {
	r := newRig(t, compact.Config{})
	r.preflight(turns(2, 10))
	if err := r.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := []string{trace.NameTokenEstimate, trace.NameTriggerDecision, trace.NameBeforeModelCall}
	got := r.events.Names()
	if len(got) != len(want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("events %v, want %v", got, want)
		}
	}
}

func TestDeadAriadneChangesNothing(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Trace.AriadneURL = "gpt-4", 8_000, mustOpen(t, t.TempDir()), tracetest.DeadURL(t)
	r := newRig(t, c)
	res := r.preflight(loop(100, 200))
	if !res.Triggered || res.After.Total > res.Budget {
		t.Errorf("triggered %v, %d tokens; want true and at most %d", res.Triggered, res.After.Total, res.Budget)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_ = r.Close(ctx)
	if ctx.Err() != nil {
		t.Error("Close waited for an unreachable Ariadne")
	}
}

func TestCallersTraceContinues(t *testing.T) {
	r := newRig(t, compact.Config{})
	ctx := trace.ContextWith(context.Background(), "trace-of-the-agent", "00f067aa0ba902b7")
	if _, err := r.Preflight(ctx, "s", turns(2, 10)); err != nil {
		t.Fatal(err)
	}
	e := r.named(trace.NameBeforeModelCall)
	if len(e) != 1 || e[0].TraceID != "trace-of-the-agent" || e[0].ParentID != "00f067aa0ba902b7" {
		t.Errorf("got %+v", e)
	}
}

func TestNoCommittedStepLacksItsEvents(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, dir)})
	r.preflight(loop(100, 200))
	// No flush, no close: the process could be killed here.
	data, err := os.Open(filepath.Join(dir, "s", "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	seen := map[string]bool{}
	for line := range scan(data) {
		var e struct{ Name string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		seen[e.Name] = true
	}
	for _, name := range []string{
		trace.NameBeforeModelCall, trace.NameTokenEstimate, trace.NameTriggerDecision, trace.NameArchival,
		trace.NameSummarize, trace.NameSummaryCreated, trace.NamePrunedMessages,
	} {
		if !seen[name] {
			t.Errorf("the audit log lacks %s", name)
		}
	}
}

func TestClosedManagerReturnsItsError(t *testing.T) {
	r := newRig(t, compact.Config{})
	ctx := context.Background()
	history := turns(2, 10)
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(ctx); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	res, err := r.Preflight(ctx, "new", history)
	if err != compact.ErrClosed || bytesOf(res.Messages) != bytesOf(history) {
		t.Errorf("got %v, want ErrClosed with the history", err)
	}
}

// In a viewer, a trace of the caller has the name from the caller's own spans, and no
// other name.
func TestCallersTraceHasTheNameOfItsSession(t *testing.T) {
	server := ariadnetest.NewServer(t)
	r := newRig(t, compact.Config{Trace: compact.TraceConfig{AriadneURL: server.URL}})
	ctx := trace.ContextWith(context.Background(), "4bf92f3577b34da6a3ce929d0e0e4736", "")
	for range 2 {
		if _, err := r.Preflight(ctx, "session-7f3a", turns(2, 10), compact.WithAgent("coder")); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	traces := 0
	for _, got := range server.Received() {
		if got.Type != "trace" {
			continue
		}
		traces++
		if got.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || got.Name != "session session-7f3a (coder)" || got.GroupID != "session-7f3a" ||
			got.Metadata["agent_id"] != "session-7f3a" || got.Metadata["agent_name"] == "" || got.EndedAt.IsZero() {
			t.Errorf("trace %+v", got)
		}
	}
	if traces == 0 {
		t.Error("no event has the session")
	}
}
