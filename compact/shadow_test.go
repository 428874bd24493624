package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// watching returns a manager that only observes and has no archive.
func watching(t *testing.T, c compact.Config) (*compact.CompactManager, *tracetest.Recorder) {
	t.Helper()
	events := &tracetest.Recorder{}
	c.Observe, c.Model, c.Exporters = true, "gpt-4", []trace.Exporter{events}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m, events
}

// looked observes a call, and waits for the result.
func looked(t *testing.T, m *compact.CompactManager, history []message.Message) *compact.Result {
	t.Helper()
	res, err := m.Preflight(t.Context(), "s", history, compact.WithObserve())
	if err != nil {
		t.Fatal(err)
	}
	if bytesOf(res.Messages) != bytesOf(history) || res.Triggered || res.Step != 0 || res.After.Total != res.TokensIn {
		t.Fatalf("the returned history was changed: %d of %d messages, step %d", len(res.Messages), len(history), res.Step)
	}
	return res
}

func TestObservingReportsTheProjectedCompactionsOfASession(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "archive")
	m, events := watching(t, compact.Config{MaxContextTokens: 8000, Storage: compact.StorageConfig{Path: folder}})
	real := newRig(t, compact.Config{MaxContextTokens: 8000})
	history := loop(12, 400)
	steps := 0
	for i := range 20 {
		history = append(history, round(100+i, 400)...)
		res, want := looked(t, m, history), real.preflight(history)
		p := res.Projected
		if p == nil || bytesOf(p.Messages) != bytesOf(want.Messages) || p.Step != want.Step || p.Triggered != want.Triggered {
			t.Fatalf("call %d: projected %+v, a manager that compacts makes step %d", i, p, want.Step)
		}
		if p.Triggered {
			steps++
		}
	}
	if steps < 2 {
		t.Fatalf("%d compactions: nothing is shown, want at least 2", steps)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made for an archive: %v, want ErrNotExist", err)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(events.Named(trace.NameObserved)); n != 20 {
		t.Errorf("%d events of 20 calls, want 20", n)
	}
	if n := len(events.Named(trace.NameWouldCompact)); n != steps {
		t.Errorf("%d events of %d compactions", n, steps)
	}
	for _, e := range events.Events() {
		if e.Kind != trace.KindObserve || strings.HasPrefix(e.Name, "compact.") {
			t.Errorf("event %s, kind %s: a reader would take it for a compaction that was made", e.Name, e.Kind)
		}
	}
	last := events.Named(trace.NameObserved)[19].Data.String()
	for _, key := range []string{`"would_compact"`, `"tokens_projected_saved"`, `"session_calls":20`, `"tokens_estimated"`} {
		if !strings.Contains(last, key) {
			t.Errorf("the event lacks %s: %s", key, last)
		}
	}
}

// A call that makes no step makes no step when it is observed either. Such calls reduce
// results on arrival, or use a preset that works on every call.
func TestObservedEditsAreNoSteps(t *testing.T) {
	tidy := tidyConfig(nil, "mask", "summarize")
	tidy.MaxContextTokens = 16_000
	every, err := compact.Preset("masking")
	if err != nil {
		t.Fatal(err)
	}
	every.MaxContextTokens = 1_000_000
	for name, c := range map[string]struct {
		compact.Config
		history []message.Message
	}{"tidy": {tidy, tidyLoop(40)}, "masking": {every, loop(60, 400)}} {
		t.Run(name, func(t *testing.T) {
			m, _ := watching(t, c.Config)
			real := c.Config
			real.Model = "gpt-4"
			r, steps, edits := newRig(t, real), 0, 0
			for n := 2; n <= len(c.history); n++ {
				if c.history[n-1].Role == message.RoleAssistant {
					continue
				}
				res, want := looked(t, m, c.history[:n:n]), r.preflight(c.history[:n:n])
				p := res.Projected
				if p == nil {
					t.Fatal(res.Warnings)
				}
				if p.Step != want.Step || p.Triggered != want.Triggered || bytesOf(p.Messages) != bytesOf(want.Messages) {
					t.Fatalf("call with %d messages: projected %s, step %d; a manager that compacts makes step %d", n, p.Reason, p.Step, want.Step)
				}
				if p.Step > 0 {
					steps = p.Step
				} else if p.Triggered {
					edits++
				}
			}
			if steps == 0 || edits == 0 {
				t.Errorf("%d steps, %d calls with edits alone", steps, edits)
			}
		})
	}
}

// noArchive fails every operation.
type noArchive struct {
	storage.Archive
	t *testing.T
}

func (a noArchive) Create(context.Context, storage.Key, storage.Blob) error {
	a.t.Error("something was written to the archive")
	return errors.New("no")
}

func (a noArchive) Append(context.Context, storage.Key, int64, storage.Blob) error {
	a.t.Error("something was appended to the archive")
	return errors.New("no")
}

// A plan is not observed, even if calls are. An observed plan would report an
// unchanged history, and would count as a call of the session.
func TestPlansAreNotObserved(t *testing.T) {
	history := loop(30, 400)
	compacting := newRig(t, compact.Config{MaxContextTokens: 8000})
	for _, c := range []struct {
		name string
		ask  func(m *compact.CompactManager) (*compact.Result, error)
	}{
		{"Plan", func(m *compact.CompactManager) (*compact.Result, error) {
			return m.Plan(t.Context(), "s", history)
		}},
		{"PlanManual", func(m *compact.CompactManager) (*compact.Result, error) {
			return m.PlanManual(t.Context(), "s", history)
		}},
		{"Plan with the option of one call", func(m *compact.CompactManager) (*compact.Result, error) {
			return m.Plan(t.Context(), "s", history, compact.WithObserve())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, events := watching(t, compact.Config{MaxContextTokens: 8000})
			want, err := c.ask(compacting.CompactManager)
			if err != nil || !want.Triggered {
				t.Fatalf("a manager that compacts plans nothing: %v", err)
			}
			got, err := c.ask(m)
			if err != nil || !got.Triggered || got.Projected != nil || bytesOf(got.Messages) != bytesOf(want.Messages) {
				t.Errorf("planned: %v, %d messages of %d, %v; a manager that compacts plans %d", got.Triggered, len(got.Messages), len(history), err, len(want.Messages))
			}
			if err := m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := len(events.Events()); n != 0 {
				t.Errorf("%d events tell of a plan, want 0", n)
			}
		})
	}
}

// An observed call of a compacting manager writes nothing, and its step does
// not belong to the session.
func TestWithObserveLeavesSessionAndArchiveAlone(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8000, Archive: noArchive{memory.New(), t}})
	history := loop(30, 400)
	res := looked(t, r.CompactManager, history)
	if res.Projected == nil || !res.Projected.Triggered {
		t.Fatalf("projected %+v", res.Projected)
	}
	plan, err := r.Plan(t.Context(), "s", history)
	if err != nil || plan.Replayed != 0 || !plan.Triggered {
		t.Errorf("the session has observed edits: %d edits, %v", plan.Replayed, err)
	}
}

func TestObservingNeverFailsACall(t *testing.T) {
	m, events := watching(t, compact.Config{MaxContextTokens: 4000})
	history := []message.Message{message.User(text(9000))}
	res := looked(t, m, history)
	if res.Projected != nil || len(res.Warnings) == 0 {
		t.Errorf("projected %v, warnings %v, want none", res.Projected, res.Warnings)
	}
	if res, err := m.Preflight(t.Context(), "", history); err != nil || len(res.Warnings) == 0 {
		t.Errorf("no session: %v, %v", res.Warnings, err)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := events.Named(trace.NameObserved)
	if len(seen) != 1 || !strings.Contains(seen[0].Data.String(), `"would_fail":"InsufficientBudget"`) {
		t.Errorf("events %v", seen)
	}
	if err := m.Archive(t.Context(), "s", history); !errors.Is(err, compact.ErrArchiveFailed) {
		t.Errorf("archived although there is no archive: %v, want ErrArchiveFailed", err)
	}
}

// awkwardCounter is a counter that panics, or hangs until it is released.
type awkwardCounter struct {
	hang chan struct{} // nil = it panics
	on   *bool
}

func (c awkwardCounter) Count(s string) int {
	if *c.on {
		if c.hang == nil {
			panic("the counter is broken")
		}
		<-c.hang
	}
	return len(s) / 4
}

func (c awkwardCounter) Name() string { return "awkward" }

var _ token.Counter = awkwardCounter{}

func TestObservingIsBoundedAndSurvivesPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on, hang := false, make(chan struct{})
		for name, counter := range map[string]awkwardCounter{"panic": {on: &on}, "hang": {on: &on, hang: hang}} {
			on = false
			m, err := compact.New(t.Context(), compact.Config{Observe: true, Model: "gpt-4", Counter: counter, MaxContextTokens: 8000})
			if err != nil {
				t.Fatal(err)
			}
			on = true
			history, began := loop(30, 400), time.Now()
			res, err := m.Preflight(t.Context(), "s", history)
			if took := time.Since(began); took > 100*time.Millisecond || err != nil || bytesOf(res.Messages) != bytesOf(history) || res.Projected != nil || len(res.Warnings) != 1 {
				t.Errorf("%s: %v after %s, warnings %v", name, err, took, res.Warnings)
			}
			if name == "hang" {
				close(hang)
			}
			synctest.Wait()
			if err := m.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
}

// An observation that takes longer than its call examines the history of that call, whatever
// the caller does with its slice afterwards.
func TestObservationKeepsTheHistoryOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var estimated []int
		for _, changes := range []bool{false, true} {
			on, hang := false, make(chan struct{})
			events := &tracetest.Recorder{}
			m, err := compact.New(t.Context(), compact.Config{
				Observe: true, Model: "gpt-4", Counter: awkwardCounter{on: &on, hang: hang}, MaxContextTokens: 8000, Exporters: []trace.Exporter{events},
			})
			if err != nil {
				t.Fatal(err)
			}
			on = true
			history := loop(30, 400)
			if res, err := m.Preflight(t.Context(), "s", history); err != nil || res.Projected != nil {
				t.Fatalf("the call waited for its observation: %v", err)
			}
			if changes {
				history[len(history)-1] = message.User(text(3000))
			}
			close(hang)
			synctest.Wait()
			if err := m.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, e := range events.Named(trace.NameObserved) {
				var p struct {
					Tokens int `json:"tokens_estimated"`
				}
				if err := json.Unmarshal([]byte(e.Data.String()), &p); err != nil {
					t.Fatal(err)
				}
				estimated = append(estimated, p.Tokens)
			}
		}
		if len(estimated) != 2 || estimated[0] != estimated[1] {
			t.Errorf("the observations count %v tokens", estimated)
		}
	})
}

// The function of WithProtected belongs to the caller: an observation in the background does
// not call it after the caller's call has returned.
func TestObservationAsksTheCallersFunctionBeforeItsCallReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := compact.New(t.Context(), compact.Config{Observe: true, Model: "gpt-4", MaxContextTokens: 8000})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close(context.Background()) }()
		asked, history := 0, loop(3, 40)
		_, err = m.Preflight(t.Context(), "s", history, compact.WithProtected(func(message.Message) bool {
			time.Sleep(50 * time.Millisecond)
			asked++
			return false
		}))
		if err != nil || asked != len(history) {
			t.Errorf("%d of %d messages were asked about, %v", asked, len(history), err)
		}
		res, err := m.Preflight(t.Context(), "s", history, compact.WithProtected(func(message.Message) bool { panic("the caller's") }))
		if err != nil || len(res.Warnings) != 1 || bytesOf(res.Messages) != bytesOf(history) {
			t.Errorf("the function panicked: %v, warnings %v", err, res.Warnings)
		}
	})
}

// The provider's bill is reported, and corrects estimates for models without a
// public tokenizer.
func TestObservedCallsLearnFromTheBill(t *testing.T) {
	events := &tracetest.Recorder{}
	m, err := compact.New(t.Context(), compact.Config{Observe: true, Model: "claude-sonnet-4-5", MaxContextTokens: 8_000, Exporters: []trace.Exporter{events}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	res := looked(t, m, loop(20, 400))
	bill := compact.Usage{PromptTokens: res.After.Total * 11 / 10}
	if !m.Observe(res, bill) {
		t.Error("the bill of the whole history was not used")
	}
	m.Observe(res, bill) // a second usage of the same request is not a second bill
	m.Observe(looked(t, m, loop(20, 400)), compact.Usage{PromptTokens: 100, CacheKnown: true, CachedTokens: 101})
	sends := newRig(t, compact.Config{Model: "claude-sonnet-4-5", MaxContextTokens: 200_000})
	sends.CompactManager.Observe(sends.preflight(loop(20, 400)), bill)
	if got, want := looked(t, m, loop(21, 400)).UpperBound, sends.preflight(loop(21, 400)).UpperBound; got != want {
		t.Errorf("the next request is estimated at %d at most; with the whole history sent the estimate is %d", got, want)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := events.Named(trace.NameObservedUsage); len(seen) != 1 || !strings.Contains(seen[0].Data.String(), `"prompt_tokens_measured"`) {
		t.Errorf("events %v", seen)
	}
}

// A refused request is not billed, so that no event reports its usage.
func TestRefusedRequestHasNoObservedUsage(t *testing.T) {
	m, events := watching(t, compact.Config{MaxContextTokens: 8_000})
	res := looked(t, m, loop(20, 400))
	m.Observe(res, compact.Usage{PromptTokens: res.After.Total, Refused: true})
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(events.Named(trace.NameObservedUsage)); n != 0 {
		t.Errorf("%d events about the usage of a refused request, want 0", n)
	}
}

func TestObserveAndTranscriptsOfAllIsRefused(t *testing.T) {
	_, err := compact.New(t.Context(), compact.Config{Observe: true, Storage: compact.StorageConfig{Transcripts: "all"}})
	var e *compact.ConfigError
	if !errors.As(err, &e) || e.Path != "storage.transcripts" {
		t.Errorf("%v, want a mistake of storage.transcripts", err)
	}
}

// The events of an observed call contain no text of the conversation.
func TestObservedEventsHoldNumbersAlone(t *testing.T) {
	m, events := watching(t, compact.Config{MaxContextTokens: 8000})
	history := loop(30, 400)
	history[1] = message.User("Find the heffalump in module_a.")
	looked(t, m, history)
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, e := range events.Events() {
		if strings.Contains(e.Data.String(), "heffalump") {
			t.Errorf("%s contains a text of the conversation: %s", e.Name, e.Data)
		}
	}
}

// secretCause is an ended context whose cause contains a secret.
type secretCause struct{ context.Context }

func (secretCause) Err() error { return errors.New("no time for " + leak) }
func (secretCause) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func TestWarningsOfObservedCallsAreFreeOfSecrets(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 24_000})
	res, err := r.Preflight(secretCause{t.Context()}, "s", turns(60, 200), compact.WithObserve())
	if err != nil || !strings.Contains(strings.Join(res.Warnings, " "), "observe: no time for") || strings.Contains(strings.Join(res.Warnings, " "), leak) {
		t.Errorf("%v, %q, want no error and a warning without the secret", err, res.Warnings)
	}
}
