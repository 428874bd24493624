package compact_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

var errNoBucket = errors.New("the bucket can't be reached, password: hunter2x7Q9")

// gate is an archive that can be opened, or read, only while it is up.
type gate struct {
	*memory.Archive
	mu    sync.Mutex
	up    bool
	tries int
}

func (g *gate) set(up bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.up = up
}

func (g *gate) open(context.Context, compact.StorageConfig) (storage.Archive, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tries++; !g.up {
		return nil, errNoBucket
	}
	return g, nil
}

func (g *gate) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	g.mu.Lock()
	up := g.up
	g.mu.Unlock()
	if !up {
		return nil, &storage.Error{Op: "open", Key: k, Err: errNoBucket}
	}
	return g.Archive.Open(ctx, k, off, n)
}

// goingOn returns a manager whose archive opens through the gate.
func goingOn(t *testing.T, g *gate, onError string, l *logged) (*rig, error) {
	t.Helper()
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Logger = "gpt-4", 8_000, l.logger()
	c.Storage.Adapter, c.Storage.Bucket, c.Storage.OnError, c.OpenArchive = "s3", "b-1", onError, g.open
	r := &rig{t: t, archive: g.Archive, events: &tracetest.Recorder{}}
	c.Exporters = []trace.Exporter{r.events}
	r.CompactManager, err = compact.New(t.Context(), c)
	return r, err
}

func TestArchiveThatCannotBeOpenedIsAnErrorByDefault(t *testing.T) {
	if _, err := goingOn(t, &gate{Archive: memory.New()}, "fail", &logged{}); !errors.Is(err, compact.ErrArchiveFailed) || !errors.Is(err, errNoBucket) {
		t.Errorf("New returned %v, want ErrArchiveFailed and errNoBucket", err)
	}
}

// storage.on_error: continue applies from the start: the agent runs, every
// result and the log report that nothing is archived, and the archive is opened
// when that is possible.
func TestManagerContinuesWithoutAnUnopenableArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, l := &gate{Archive: memory.New()}, &logged{}
		r, err := goingOn(t, g, "continue", l)
		if err != nil {
			t.Fatal(err)
		}
		history := loop(100, 200)
		for i, want := range []bool{true, false, false} { // compacted once
			res, err := r.Preflight(t.Context(), "s", history)
			if err != nil || res.Triggered != want || res.After.Total > res.Budget || res.Archived != nil {
				t.Fatalf("call %d: compacted %v, %d tokens, %v; want %v, at most %d and no error", i, res.Triggered, res.After.Total, err, want, res.Budget)
			}
			if said := strings.Join(res.Warnings, "\n"); !strings.Contains(said, "nothing is archived") || strings.Contains(said, "hunter2") {
				t.Errorf("call %d warns of %q, want text with %q and text without %q", i, said, "nothing is archived", "hunter2")
			}
		}
		if _, err := r.Recall(t.Context(), "s", strings.Repeat("a1", 6)); !errors.Is(err, errNoBucket) {
			t.Errorf("Recall returned %v, although the archive is not open", err)
		}
		time.Sleep(10 * time.Minute)
		for range 60 {
			if _, err := r.Preflight(t.Context(), "s", history); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		synctest.Wait() // waits for the running attempt
		if g.tries < 8 || g.tries > 30 {
			t.Errorf("the archive was tried %d times, want at least 8 and at most 30", g.tries)
		}
		said := l.String()
		if n := strings.Count(said, "nothing is archived"); n != g.tries || strings.Contains(said, "hunter2") {
			t.Errorf("the log reports it %d times, of %d", n, g.tries)
		}
		g.set(true)
		time.Sleep(2 * time.Minute)
		for range 2 { // the first call finds the archive open
			if _, err := r.Preflight(t.Context(), "new", history); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		res, err := r.Preflight(t.Context(), "newer", history)
		if err != nil || len(res.Warnings) > 0 || res.Archived == nil {
			t.Errorf("after the archive opened: %v, warnings %q", err, res.Warnings)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(l.String(), "the archive is open now") {
			t.Error("the log does not say that the archive is open")
		}
		failed := 0
		for _, e := range r.events.Named(trace.NameError) {
			if strings.Contains(e.Data.String(), "ArchiveFailed") {
				failed++
			}
		}
		if failed < 60 {
			t.Errorf("%d events say so, want at least 60", failed)
		}
	})
}

// The same holds for an archive that was opened and no longer answers.
func TestSessionContinuesWithoutAnAnswerOfTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{Archive: memory.New(), up: true}
		r, err := goingOn(t, g, "continue", &logged{})
		if err != nil {
			t.Fatal(err)
		}
		history := loop(100, 200)
		before, err := r.Preflight(t.Context(), "known", history)
		if err != nil || before.Archived == nil {
			t.Fatalf("%v, or nothing is archived", err)
		}
		g.set(false)
		res, err := r.Preflight(t.Context(), "unknown", history)
		if err != nil || !res.Triggered || !strings.Contains(strings.Join(res.Warnings, "\n"), "nothing is archived") {
			t.Errorf("compacted %v, warnings %q, %v; want true and no error", res.Triggered, res.Warnings, err)
		}
		g.set(true)
		if err := r.Close(t.Context()); err != nil && !errors.Is(err, errNoBucket) {
			t.Errorf("Close returned %v", err)
		}
	})
	g := &gate{Archive: memory.New(), up: true}
	r, err := goingOn(t, g, "fail", &logged{})
	if err != nil {
		t.Fatal(err)
	}
	g.set(false)
	if _, err := r.Preflight(t.Context(), "s", loop(3, 20)); !errors.Is(err, compact.ErrArchiveFailed) {
		t.Errorf("without the archive: %v, want ErrArchiveFailed", err)
	}
	_ = r.Close(t.Context()) // Close can't write to the archive
}

// slowOpening is an archive whose opening takes long, even after its context ends.
type slowOpening struct {
	*memory.Archive
	opens  chan struct{} // nil: it can't be opened
	closed atomic.Bool
}

func (d *slowOpening) Close(context.Context) error { d.closed.Store(true); return nil }

// An archive that opens after Close has stopped waiting is closed at once.
func TestArchiveThatOpensAfterCloseIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &slowOpening{Archive: memory.New()}
		c, err := compact.Preset("graduated")
		if err != nil {
			t.Fatal(err)
		}
		c.Model, c.Storage.Adapter, c.Storage.Bucket, c.Storage.OnError = "gpt-4", "s3", "b-1", "continue"
		c.OpenArchive = func(context.Context, compact.StorageConfig) (storage.Archive, error) {
			if d.opens == nil {
				return nil, errNoBucket
			}
			<-d.opens
			return d, nil
		}
		m, err := compact.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		d.opens = make(chan struct{})
		time.Sleep(2 * time.Minute)
		if _, err := m.Preflight(t.Context(), "s", loop(3, 20)); err != nil { // begins to open it
			t.Fatal(err)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Close returned %v: the test proves nothing", err)
		}
		close(d.opens)
		synctest.Wait()
		if !d.closed.Load() {
			t.Error("the archive stays open")
		}
	})
}

// A session that could not be read at first may have been erased. Once the archive answers, that
// is found, and the session continues in its next life, as after any other erase.
func TestErasedSessionThatIsReadLateIsNotStoredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, l := &gate{Archive: memory.New(), up: true}, &logged{}
		before, err := goingOn(t, g, "continue", l)
		if err = errors.Join(err, before.Archive(t.Context(), "s", loop(2, 10)), before.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		erase(t, g.Archive, "s")
		r, err := goingOn(t, g, "continue", l)
		if err != nil {
			t.Fatal(err)
		}
		history := loop(60, 200)
		for up := range 3 { // the archive is back for all calls but the first
			g.set(up > 0)
			if _, err := r.Preflight(t.Context(), "s", history); err != nil {
				t.Fatal(err)
			}
			history = append(history[:len(history):len(history)], loop(40, 200)...)
			time.Sleep(2 * time.Second) // the session stays in memory, and its archive is tried again
			synctest.Wait()
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		var names []string
		for s, err := range record.Sessions(t.Context(), g.Archive) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, s.ID)
		}
		if len(names) != 1 || !strings.HasPrefix(names[0], "s.after-") {
			t.Errorf("stored are %q, want only the next life of s", names)
		}
	})
}
