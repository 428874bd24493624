package compact_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"math"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// logged is the log of a manager.
type logged struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// breaks is a counter that panics at every call after the first few.
type breaks struct {
	token.Counter
	left int
}

func (b *breaks) Count(s string) int {
	if b.left--; b.left < 0 {
		panic("counted out: ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe")
	}
	return b.Counter.Count(s)
}

type brokenArchive struct{ storage.Archive }

func (brokenArchive) Create(context.Context, storage.Key, storage.Blob) error { panic("no disk") }

type brokenWriter struct{}

func (brokenWriter) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	panic("no words")
}
func (brokenWriter) Describe() strategy.Info { return strategy.Info{Name: "broken", Remote: true} }

func TestPanicsAreErrorsAndLeaveTheHistory(t *testing.T) {
	counter, err := token.ForModel("gpt-4")
	if err != nil {
		t.Fatal(err)
	}
	history := turns(60, 200)
	for name, c := range map[string]compact.Config{
		"counter": {Counter: &breaks{Counter: counter, left: 30}},
		"archive": {Archive: brokenArchive{memory.New()}},
	} {
		t.Run(name, func(t *testing.T) {
			var log logged
			c.MaxContextTokens, c.Logger = 24_000, log.logger()
			r := newRig(t, c)
			for what, call := range map[string]func() (*compact.Result, error){
				"Preflight":     func() (*compact.Result, error) { return r.Preflight(t.Context(), "s", history) },
				"ManualCompact": func() (*compact.Result, error) { return r.ManualCompact(t.Context(), "s", history, "") },
			} {
				res, err := call()
				if res == nil || err == nil || bytesOf(res.Messages) != bytesOf(history) || len(res.Sources) != len(history) {
					t.Fatalf("%s: %v, want an error", what, err)
				}
				if name == "counter" && !errors.Is(err, compact.ErrInternal) || strings.Contains(err.Error(), "x8Kq2") {
					t.Errorf("%s: %v, want an error without %q", what, err, "x8Kq2")
				}
			}
			if s := log.String(); !strings.Contains(s, "stack=") || !strings.Contains(s, ".go:") || strings.Contains(s, "x8Kq2") {
				t.Errorf("logged %q, want text with %q, text with %q and text without %q", s, "stack=", ".go:", "x8Kq2")
			}
		})
	}
}

func TestPanicInAnOptionIsAnError(t *testing.T) {
	var log logged
	r := newRig(t, compact.Config{Logger: log.logger()})
	history := turns(2, 10)
	res, err := r.Preflight(t.Context(), "s", history, compact.WithProtected(func(message.Message) bool { panic("a mistake") }))
	if !errors.Is(err, compact.ErrInternal) || bytesOf(res.Messages) != bytesOf(history) || !strings.Contains(log.String(), "a mistake") {
		t.Errorf("%v, want ErrInternal", err)
	}
}

func TestPanicOfASummarizerLosesOnlyTheSummary(t *testing.T) {
	var log logged
	r := newRig(t, compact.Config{MaxContextTokens: 24_000, Summarize: brokenWriter{}, Logger: log.logger()})
	res, err := r.Preflight(t.Context(), "s", turns(60, 200))
	if err != nil || res.DroppedCount == 0 || len(res.Warnings) != 0 && !strings.Contains(strings.Join(res.Warnings, " "), "no words") {
		t.Errorf("%v, %d dropped, %v", err, res.DroppedCount, res.Warnings)
	}
	if s := log.String(); !strings.Contains(s, "a stage panicked") || !strings.Contains(s, "brokenWriter.Summarize") {
		t.Errorf("the log does not state the place of the panic: %q", s)
	}
}

// A panic in the rules of a wire is logged, too, and no view is made that was
// not checked.
func TestPanicOfTheRulesOfAWireIsLogged(t *testing.T) {
	var log logged
	r := newRig(t, compact.Config{MaxContextTokens: 24_000, Logger: log.logger()})
	history := turns(50, 200)
	res, _ := r.Preflight(t.Context(), "s", history, compact.WithRequest(&ruled{msgs: history, check: func([]message.Message, []int) []wire.Violation { panic("no rules") }}))
	if bytesOf(res.Messages) != bytesOf(history) && res.MaskedCount == 0 || !strings.Contains(log.String(), "TestPanicOfTheRulesOfAWire") {
		t.Errorf("%q, logged %q, want text with %q", res.Warnings, log.String(), "TestPanicOfTheRulesOfAWire")
	}
}

// A panicking archive counts as a failed one.
func TestManagerContinuesWithAPanickingArchive(t *testing.T) {
	for name, onError := range map[string]string{"fail": "fail", "continue": "continue"} {
		t.Run(name, func(t *testing.T) {
			var log logged
			c, err := compact.Preset("graduated")
			if err != nil {
				t.Fatal(err)
			}
			c.MaxContextTokens, c.Logger, c.Archive, c.Storage.OnError = 24_000, log.logger(), brokenArchive{memory.New()}, onError
			r := newRig(t, c)
			res, err := r.Preflight(t.Context(), "s", turns(60, 200))
			switch {
			case onError == "fail" && !errors.Is(err, compact.ErrArchiveFailed):
				t.Errorf("%v, want ErrArchiveFailed", err)
			case onError == "continue" && (err != nil || !res.Triggered || res.After.Total > res.Budget || len(res.Warnings) == 0):
				t.Errorf("triggered %v, %d tokens, warnings %q, %v", res.Triggered, res.After.Total, res.Warnings, err)
			}
			failed := false
			for _, e := range r.named(trace.NameError) {
				failed = failed || strings.Contains(e.Data.String(), `"error_type":"ArchiveFailed"`)
			}
			if !failed {
				t.Error("no event reports the failed archive")
			}
		})
	}
}

type brokenReader struct{ storage.Archive }

func (brokenReader) Open(context.Context, storage.Key, int64, int64) (io.ReadCloser, error) {
	panic("no disk for ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe")
}

func (b brokenReader) List(ctx context.Context, k storage.Key) iter.Seq2[storage.Info, error] {
	panic("no list for ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe")
}

type brokenContext struct{ context.Context }

func (brokenContext) Err() error {
	panic("no end, but ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe")
}

// Functions that are not methods of a manager also recover.
func TestPanicsOfFunctionsAreErrors(t *testing.T) {
	var log logged
	_, made := compact.New(brokenContext{t.Context()}, compact.Config{Model: "gpt-4", Archive: memory.New(), Logger: log.logger()})
	_, read := recall.Text(t.Context(), brokenReader{memory.New()}, "s", "3f9a2c1b70de")
	answer, tool := compact.RecallTool(nil).Call(t.Context(), "s", []byte(`{"ref":"3f9a2c1b70de"}`))
	if !strings.HasPrefix(answer, "recall: ") {
		t.Errorf("the model reads %q, want text that begins with %q", answer, "recall: ")
	}
	shown := &compact.Result{Session: "s", Messages: []message.Message{policy.NewSummary(1, "see 3f9a2c1b70de")}}
	_, inView := new(compact.CompactManager).RecallShown(t.Context(), shown, "3f9a2c1b70de")
	for name, err := range map[string]error{"New": made, "Recall": read, "the tool": tool, "RecallShown": inView} {
		if !errors.Is(err, compact.ErrInternal) || strings.Contains(err.Error(), "x8Kq2") {
			t.Errorf("%s: %v, want ErrInternal and an error without %q", name, err, "x8Kq2")
		}
	}
	if s := log.String(); !strings.Contains(s, "stack=") || strings.Contains(s, "x8Kq2") {
		t.Errorf("logged %q, want text with %q and text without %q", s, "stack=", "x8Kq2")
	}
}

// panickingRead is an archive that panics when it is read later.
type panickingRead struct {
	storage.Archive
	now atomic.Bool
}

func (a *panickingRead) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.now.Load() {
		panic("no disk for Karl")
	}
	return a.Archive.Open(ctx, k, off, n)
}

// A panic in a manager's read through package recall is handled like any other:
// the manager's log has the stack, and its own rules redact the text.
func TestPanicOfARecallIsLoggedByTheManager(t *testing.T) {
	var log logged
	a := &panickingRead{Archive: memory.New()}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a, Logger: log.logger(), Redaction: compact.RedactionConfig{Enabled: true, Patterns: []string{"Karl"}}})
	history := loop(100, 200)
	r.preflight(history)
	a.now.Store(true)
	_, text := r.Recall(t.Context(), "s", r.Ref(history[3].Parts[0]))
	_, found := r.Search(t.Context(), "s", regexp.MustCompile("word"), 0)
	a.now.Store(false)
	for name, err := range map[string]error{"Recall": text, "Search": found} {
		if !errors.Is(err, compact.ErrInternal) || strings.Contains(err.Error(), "Karl") {
			t.Errorf("%s: %v, want ErrInternal and an error without %q", name, err, "Karl")
		}
	}
	if s := log.String(); strings.Count(s, "stack=") != 2 || strings.Contains(s, "Karl") {
		t.Errorf("logged %q, want text without %q", s, "Karl")
	}
}

// A call that panics while it reports its error ends nevertheless: Close does
// not wait for it.
func TestCallsThatPanicTwiceEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		left := math.MaxInt
		now := func() time.Time {
			if left--; left == -1 || left == -2 {
				panic("no time")
			}
			return time.Now()
		}
		r := newRig(t, compact.Config{Now: now, Logger: log.logger()})
		r.preflight(turns(1, 10))
		left = 6 // the session exists by then
		res, err := r.Preflight(t.Context(), "s", turns(1, 10))
		if !errors.Is(err, compact.ErrInternal) || len(res.Messages) != 3 || left > -2 {
			t.Fatalf("%v, %d panics, want ErrInternal", err, -left)
		}
		left = math.MaxInt
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// stoppingArchive is an archive whose call number at panics, or ends its goroutine.
type stoppingArchive struct {
	storage.Archive
	calls, at atomic.Int64
	how       func()
}

func (s *stoppingArchive) count() {
	if s.calls.Add(1) == s.at.Load() {
		s.how()
	}
}

func (s *stoppingArchive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	s.count()
	return s.Archive.Create(ctx, k, b)
}

func (s *stoppingArchive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	s.count()
	return s.Archive.Append(ctx, k, seq, b)
}

func (s *stoppingArchive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	s.count()
	return s.Archive.Open(ctx, k, off, n)
}

func (s *stoppingArchive) List(ctx context.Context, k storage.Key) iter.Seq2[storage.Info, error] {
	s.count()
	return s.Archive.List(ctx, k)
}

// Wherever the archive panics or ends its goroutine, the program continues, no call hangs, and
// a step has all its files. The process under test did not write the earlier steps, so it reads
// them.
func TestStepsAreWholeWhereverTheArchiveStops(t *testing.T) {
	for name, how := range map[string]func(){"panic": func() { panic("no disk") }, "goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at, reached := int64(1), true; reached; at++ {
				synctest.Test(t, func(t *testing.T) { reached = stopsAt(t, how, at) })
			}
		})
	}
}

// stopsAt reports whether the process under test has made call number at.
func stopsAt(t *testing.T, how func(), at int64) (reached bool) {
	a := &stoppingArchive{Archive: memory.New(), how: how}
	process := func() *compact.CompactManager {
		m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 4000, Archive: a, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	before := process()
	for _, rounds := range []int{20, 34} {
		if res, err := before.Preflight(t.Context(), "s", loop(rounds, 150)); err != nil || res.Step == 0 {
			t.Fatalf("step %d, %v", res.Step, err)
		}
	}
	if err := before.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, history := process(), loop(48, 150)
	a.at.Store(a.calls.Load() + at)
	called := make(chan struct{})
	go func() { // the goroutine that ends can be the caller's
		defer close(called)
		_, _ = m.Preflight(t.Context(), "s", history)
	}()
	<-called
	reached = a.calls.Load() >= a.at.Load()
	a.at.Store(0)
	res, err := m.Preflight(t.Context(), "s", history)
	if err != nil {
		t.Fatalf("call %d: the next call: %v", at, err)
	}
	for i, d := range res.Decisions {
		if d.Decision == policy.Kept || history[i].ResultText() == "" {
			continue
		}
		if got, err := m.Recall(t.Context(), "s", m.Ref(history[i].Parts[0])); err != nil || !strings.HasPrefix(history[i].ResultText(), strings.TrimSpace(got)[:20]) {
			t.Errorf("call %d: message %d is not in the archive: %.40q, %v", at, i, got, err)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Errorf("call %d: Close: %v", at, err)
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Verify(t.Context(), record.VerifyOptions{}); err != nil || len(v.Problems) > 0 {
		t.Errorf("call %d: %v, %v", at, v.Problems, err)
	}
	return reached
}
