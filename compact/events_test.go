package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
)

var began = time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)

// seen collects which keys the events of a name had.
type seen map[string]map[string]bool

func (s seen) add(t *testing.T, events []trace.Event) {
	t.Helper()
	for _, e := range events {
		if s[e.Name] == nil {
			s[e.Name] = map[string]bool{}
		}
		if e.SpanID == "" {
			continue // the event ends a trace
		}
		var data map[string]json.RawMessage
		if err := json.Unmarshal([]byte(e.Data.String()), &data); err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		for k := range data {
			s[e.Name][k] = true
		}
	}
}

// billing is a summarizer that reports its cost, and returns an error if one is
// set.
type billing struct{ err error }

func (b billing) Describe() strategy.Info {
	return strategy.Info{Name: "openai", Model: "small", Remote: true}
}

func (b billing) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] the tests of the module pass\n", PromptTokens: 900, CompletionTokens: 20, CacheKnown: true, CachedTokens: 100, WrittenTokens: 50,
		Answer: strategy.Answer{ID: "chatcmpl-1", Model: "small-2026", Finish: "stop", Server: "models.example:443", Seed: new(int)}}, b.err
}

// bucket is an archive that reports to be in S3.
type bucket struct{ *memory.Archive }

func (bucket) Location(k storage.Key) string { return "s3://bucket/prefix/" + k.String() }

// eventScenarios are calls that together emit every field of every event.
func eventScenarios(t *testing.T, s seen) {
	call := func(c compact.Config, history []message.Message, opts ...compact.Option) *rig {
		t.Helper()
		r := newRig(t, c)
		_, err := r.Preflight(context.Background(), "s", history, opts...)
		if err != nil && !errors.Is(err, compact.ErrInsufficientBudget) && !errors.Is(err, compact.ErrArchiveFailed) {
			t.Fatal(err)
		}
		_ = r.Flush(context.Background()) // where the archive fails
		s.add(t, r.events.Events())
		return r
	}
	small := compact.Config{MaxContextTokens: 8_000}
	call(compact.Config{MaxContextTokens: 8_000, Archive: mustOpen(t, t.TempDir())}, loop(100, 200), compact.WithAgent("coder"))
	call(compact.Config{MaxContextTokens: 8_000, Archive: bucket{memory.New()}, Summarize: billing{}}, loop(100, 200))
	call(compact.Config{MaxContextTokens: 8_000, Summarize: billing{err: errors.New("answer 400")}}, loop(100, 200))
	call(compact.Config{MaxContextTokens: 32_000, Model: "claude-sonnet-4"}, loop(100, 300))
	call(compact.Config{MaxContextTokens: 8_000, Archive: &failing{Archive: memory.New(), word: "transcript-"}}, loop(100, 200))
	call(compact.Config{MaxContextTokens: 8_000, Archive: &failing{Archive: memory.New(), word: "ledger"}}, loop(100, 200))
	call(compact.Config{MaxContextTokens: 8_000, Archive: &failing{Archive: memory.New(), word: "ledger"}, Storage: compact.StorageConfig{OnError: "continue"}}, loop(100, 200))
	huge := append(loop(3, 100), round(3, 7_000)...)
	call(small, append(huge, message.User("go on")))
	call(small, []message.Message{message.User(text(9_000))})

	tidied := newRig(t, tidyConfig(memory.New()))
	tidied.preflight(tidyLoop(1))
	tidied.preflight(append(tidyLoop(1), tidyRound(0)...)) // which was not enough
	s.add(t, everything(t, tidied))

	paying, _ := economic(t, nil)
	calledWith(paying, 20, 40)
	s.add(t, everything(t, paying))

	manual := newRig(t, small)
	if _, err := manual.ManualCompact(context.Background(), "s", loop(30, 50), "a new task begins"); err != nil {
		t.Fatal(err)
	}
	s.add(t, everything(t, manual))

	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Redaction.Enabled, c.Trace.PerSession = "gpt-4", false, true
	open := call(c, turns(1, 10))
	if err := open.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.add(t, open.events.Events())

	floor := newRig(t, compact.Config{MaxContextTokens: 32_000})
	for n := range 20 { // of 32,000 tokens 25,000 are pinned, the target is 19,200
		floor.preflight(append([]message.Message{message.System(text(25_000))}, loop(30+n, 50)...))
	}
	s.add(t, everything(t, floor))

	history := turns(50, 200)
	call(compact.Config{MaxContextTokens: 24_000}, history, compact.WithRequest(&ruled{msgs: history, check: func(view []message.Message, _ []int) []wire.Violation {
		if slices.ContainsFunc(view, policy.IsSummary) {
			return []wire.Violation{{Check: "no_summaries"}}
		}
		return nil
	}}))
	seeing, _ := screened(t)
	s.add(t, everything(t, seeing))
	loseRace(t, s)
	loseEvents(t, s)
	wasteSummary(t, s)
}

// wasteSummary ends a manager while a model without a price writes a summary.
func wasteSummary(t *testing.T, s seen) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, compact.Config{MaxContextTokens: 8_000, Model: "in-house-13b", Summarize: &scripted{ends: []ending{{hangs: true}}}})
		_, _ = r.Preflight(gaveUp(t), "s", loop(100, 200))
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.add(t, r.events.Events())
	})
}

// loseEvents adds an exporter that delivers nothing.
func loseEvents(t *testing.T, s seen) {
	t.Helper()
	deaf := &broken{name: "otlp"}
	deaf.Err = errUnauthorized
	r := newRig(t, compact.Config{Exporters: []trace.Exporter{deaf}, OnTraceError: func(error) {}})
	r.preflight(turns(1, 10))
	s.add(t, everything(t, r))
	r.preflight(turns(2, 10))
	s.add(t, everything(t, r))
}

// everything returns all that a manager has emitted.
func everything(t *testing.T, r *rig) []trace.Event {
	t.Helper()
	if err := r.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	return r.events.Events()
}

// loseRace makes another process commit the step first.
func loseRace(t *testing.T, s seen) {
	t.Helper()
	dir := t.TempDir()
	one, two := onDisk(t, dir, nil), onDisk(t, dir, nil)
	two.preflight(loop(2, 10))
	one.preflight(loop(100, 200))
	two.preflight(loop(110, 200))
	s.add(t, everything(t, two))
}

func TestEveryFieldOfEveryEventIsEmitted(t *testing.T) {
	s := seen{}
	eventScenarios(t, s)
	for _, p := range []trace.Payload{
		trace.Preflight{}, trace.TokenEstimate{}, trace.TriggerDecision{}, trace.Archival{}, trace.Summarize{}, trace.SummaryCreated{},
		trace.MaskedObservations{}, trace.TruncatedResults{}, trace.PrunedMessages{}, trace.Error{}, trace.RedactionDisabled{}, trace.SummaryAttempt{},
	} {
		name := trace.New(p, redact.Text{}, began, began).Name
		if s[name] == nil {
			t.Errorf("%s is never emitted", name)
			continue
		}
		for _, key := range jsonKeys(reflect.TypeOf(p)) {
			if !s[name][key] && key != "as_before" { // only in the audit log
				t.Errorf("event %s never has the key %q; its keys are %v", name, key, slices.Sorted(maps.Keys(s[name])))
			}
		}
		delete(s, name)
	}
	if delete(s, trace.NameSession); len(s) > 0 {
		t.Errorf("unknown events %v", s)
	}
}

func jsonKeys(s reflect.Type) (keys []string) {
	for i := range s.NumField() {
		f := s.Field(i)
		if f.Anonymous {
			keys = append(keys, jsonKeys(f.Type.Elem())...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		keys = append(keys, name)
	}
	return keys
}

// With one trace a session the trace has one start, and an end when the
// manager is closed: on the wire, and in the audit log.
func TestTraceOfASessionEndsWithTheManager(t *testing.T) {
	server, dir := ariadnetest.NewServer(t), t.TempDir()
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Archive, c.Trace.AriadneURL, c.Trace.PerSession = "gpt-4", mustOpen(t, dir), server.URL, true
	r := newRig(t, c)
	for range 2 {
		r.preflight(turns(1, 10), compact.WithAgent("coder"))
		if err := r.Flush(context.Background()); err != nil { // a separate batch
			t.Fatal(err)
		}
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	var traces []ariadnetest.Event
	for _, e := range server.Received() {
		if e.Type == "trace" {
			traces = append(traces, e)
		}
	}
	last := traces[len(traces)-1]
	if len(traces) < 2 || last.EndedAt.IsZero() || last.GroupID != "s" || last.Name != "session s (coder)" {
		t.Errorf("%d trace events, the last one %+v", len(traces), last)
	}
	for _, e := range traces[:len(traces)-1] {
		if !e.EndedAt.IsZero() || !e.StartedAt.Equal(last.StartedAt) || e.TraceID != last.TraceID {
			t.Errorf("while the session continues: %+v, the last: %+v", e, last)
		}
	}
	log, err := os.ReadFile(filepath.Join(dir, "s", "events.jsonl"))
	if err != nil || !strings.Contains(string(log), `"name":"session"`) {
		t.Errorf("the audit log lacks the end of the session: %v", err)
	}
}

// After a lost race the log has the parent of the step that was committed.
func TestStepAfterALostRaceHasItsParent(t *testing.T) {
	dir := t.TempDir()
	one, two := onDisk(t, dir, nil), onDisk(t, dir, nil)
	two.preflight(loop(2, 10))
	one.preflight(loop(100, 200))
	res := two.preflight(loop(140, 200))
	if res.Step != 2 {
		t.Fatalf("no race happened: step %d, want 2", res.Step)
	}
	if n := checkAuditLog(t, dir, "s"); n != 2 {
		t.Errorf("%d steps, want 2", n)
	}
}
