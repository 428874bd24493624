package compact_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// stopped is the archive of a process that is stopped before one of its changes, and
// continues later, or never.
type stopped struct {
	*memory.Archive
	during func() // runs while the process is stopped
	rests  time.Duration

	mu     sync.Mutex
	before int // changes until it is stopped
	asleep bool
	killed bool
}

func (s *stopped) stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.before--; s.before == -1 {
		s.asleep = true
		began := time.Now()
		s.during()
		time.Sleep(s.rests - time.Since(began))
		s.killed = s.rests == 0
	}
	if s.killed {
		return flaky.ErrDied
	}
	return ctx.Err()
}

func (s *stopped) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := s.stop(ctx); err != nil {
		return &storage.Error{Op: "create", Key: k, Err: err}
	}
	return s.Archive.Create(ctx, k, b)
}

func (s *stopped) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := s.stop(ctx); err != nil {
		return &storage.Error{Op: "append", Key: k, Err: err}
	}
	return s.Archive.Append(ctx, k, seq, b)
}

func (s *stopped) Remove(ctx context.Context, k storage.Key) error {
	if err := s.stop(ctx); err != nil {
		return &storage.Error{Op: "remove", Key: k, Err: err}
	}
	return s.Archive.Remove(ctx, k)
}

// operations are what an operator does to the session s of an archive.
var operations = map[string]func(ctx context.Context, a storage.Archive) error{
	"scrub": func(ctx context.Context, a storage.Archive) error {
		s, err := bySomebody(ctx, a)
		if err == nil {
			_, err = compact.Scrub(ctx, s, compact.ScrubOptions{Secrets: []string{leakedLater}, Reason: redact.Lit("it leaked")})
		}
		return err
	},
	"erase": func(ctx context.Context, a storage.Archive) error {
		s, err := bySomebody(ctx, a)
		if err == nil {
			_, err = s.Erase(ctx, redact.Lit("asked for"))
		}
		return err
	},
	"prune": func(ctx context.Context, a storage.Archive) error {
		o := record.PruneOptions{Before: time.Now().Add(time.Hour), Heads: record.NewHeads(a, nil)}
		for r, err := range record.Prune(ctx, a, o) {
			if err = errors.Join(err, r.Err); err != nil {
				return err
			}
		}
		return nil
	},
	"hold": func(ctx context.Context, a storage.Archive) error {
		s, err := bySomebody(ctx, a)
		if err == nil {
			err = s.Hold(ctx, redact.Lit("a case"))
		}
		return err
	},
}

func bySomebody(ctx context.Context, a storage.Archive) (*record.Session, error) {
	s, err := record.OpenSession(ctx, a, "s")
	if err == nil {
		s.KeepHeads(record.NewHeads(a, nil))
	}
	return s, err
}

// An operator's process is stopped before each of its changes: for a moment, for longer
// than the turn of a process lasts, or for good. Meanwhile an agent works in the session,
// and in some runs somebody puts it under a hold. Then the archive verifies, another
// process has the view of the agent, a session under a hold is complete, and another scrub
// leaves nothing of the secret.
func TestStoppedOperatorBesideAnAgent(t *testing.T) {
	every := 1
	if !soak() {
		every = samples.Every(2)
	}
	i := 0
	for _, op := range []string{"scrub", "erase", "prune"} {
		for _, rests := range []time.Duration{0, 15 * time.Second, 3 * time.Minute} {
			for _, holds := range []bool{false, true} {
				i++
				t.Run(fmt.Sprintf("%s/%v/hold %v", op, rests, holds), func(t *testing.T) {
					reached := true
					for at := i % every; reached && !t.Failed(); at += every {
						synctest.Test(t, func(t *testing.T) { reached = stoppedAt(t, op, at, rests, holds) })
					}
				})
			}
		}
	}
}

// stoppedAt returns false if the operation has fewer changes.
func stoppedAt(t *testing.T, op string, at int, rests time.Duration, holds bool) bool {
	disk := memory.New()
	c := compact.Config{Archive: disk}
	c.Storage.Erased = "new"
	agent := newRig(t, c)
	agent.archive = disk
	history, erasing := leakyLoop(), false
	work := func() string {
		for range 6 {
			history = append(history, round(20+len(history), 200)...)
		}
		res, err := agent.ManualCompact(context.Background(), "s", history, "test")
		if erasing && errors.Is(err, record.ErrErased) {
			return "" // an erase that has no tombstone yet
		}
		if err != nil || res.Step == 0 {
			t.Fatalf("change %d: the agent: step %d, %v", at, res.Step, err)
		}
		return bytesOf(res.Messages)
	}
	work()
	work()
	if err := agent.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	held := errors.New("nobody holds it")
	stop := &stopped{Archive: disk, before: at, rests: rests, during: func() {
		if holds {
			held = operations["hold"](context.Background(), disk)
		}
		erasing = op != "scrub"
		work()
		erasing = false
	}}
	_ = operations[op](context.Background(), stop) // any outcome is fine if the rest holds
	if !stop.asleep {
		return false
	}
	again(t, disk, at)
	view := work()
	unharmed(t, agent, at, history, view, held == nil)
	return true
}

// again completes an erase that was interrupted.
func again(t *testing.T, a storage.Archive, at int) {
	t.Helper()
	s, err := bySomebody(context.Background(), a)
	if err != nil {
		t.Fatal(err)
	}
	if stone, ok, err := record.Erased(context.Background(), a, "s"); err != nil || !s.Erasing() && (!ok || stone.Done) {
		return
	}
	if _, err := s.Erase(context.Background(), redact.Lit("asked for")); err != nil {
		t.Errorf("change %d: the erase, called again: %v", at, err)
	}
}

// unharmed checks the archive after a stopped operation.
func unharmed(t *testing.T, agent *rig, at int, history []message.Message, view string, held bool) {
	t.Helper()
	if err := agent.Flush(context.Background()); err != nil {
		t.Errorf("change %d: %v", at, err)
	}
	sound(t, agent.archive, at, "then")
	c := compact.Config{Archive: agent.archive}
	c.Storage.Erased = "new"
	res, err := newRig(t, c).Preflight(context.Background(), "s", history)
	if err != nil || bytesOf(res.Messages) != view {
		t.Errorf("change %d: another process has another view, %v, %v", at, err, res.Warnings)
	}
	if held {
		s, err := bySomebody(context.Background(), agent.archive)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := s.Held(context.Background()); err != nil || !h.Held || s.Erasing() {
			t.Errorf("change %d: the hold is gone: %+v, %v", at, h, err)
		}
		if err := s.Release(context.Background(), redact.Lit("over")); err != nil {
			t.Fatal(err)
		}
	}
	lives, err := compact.Lives(context.Background(), agent.archive, "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range lives {
		s, err := record.OpenDir(context.Background(), agent.archive, dir)
		if err == nil {
			_, err = compact.Scrub(context.Background(), s, compact.ScrubOptions{Secrets: []string{leakedLater}})
		}
		if err != nil {
			t.Errorf("change %d: the last scrub: %v", at, err)
		}
	}
	if agent.holdsText("correcthorse") {
		t.Errorf("change %d: the secret is left", at)
	}
	sound(t, agent.archive, at, "after the last scrub")
}

// sound verifies an archive with its heads.
func sound(t *testing.T, a storage.Archive, change int, when string) {
	t.Helper()
	ctx := context.Background()
	book, err := record.ReadHeads(ctx, a, record.HeadsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := book.Vanished(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, book.Report())
	for info, err := range record.Sessions(ctx, a) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := record.VerifyDir(ctx, a, info.Dir, record.VerifyOptions{Heads: book, Refs: recall.Refs, Edits: recall.EditRefs})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	for _, r := range all {
		for _, p := range r.Problems {
			t.Errorf("change %d, %s: %s: %s", change, when, r.Dir, p)
		}
	}
}

// A copy is stopped, or killed, before each of its changes, while an agent works in the
// source. Another copy completes it: the copy verifies, and an agent there has the view of
// the agent in the source, even after an erase that was repeated.
func TestStoppedCopyBesideAnAgent(t *testing.T) {
	every := 1
	if !soak() {
		every = samples.Every(3)
	}
	for i, rests := range []time.Duration{0, 3 * time.Minute} {
		for _, erased := range []bool{false, true} {
			reached := true
			for at := i; reached && !t.Failed(); at += every {
				synctest.Test(t, func(t *testing.T) { reached = copyStoppedAt(t, at, rests, erased) })
			}
		}
	}
}

func copyStoppedAt(t *testing.T, at int, rests time.Duration, erased bool) bool {
	ctx, src, dst := context.Background(), memory.New(), memory.New()
	agent := newRig(t, compact.Config{Archive: src})
	history := leakyLoop()
	work := func() string {
		t.Helper()
		for range 6 {
			history = append(history, round(20+len(history), 200)...)
		}
		res, err := agent.ManualCompact(ctx, "s", history, "test")
		if err != nil || res.Step == 0 {
			t.Fatalf("change %d: the agent: step %d, %v", at, res.Step, err)
		}
		return bytesOf(res.Messages)
	}
	work()
	if erased {
		if _, err := record.Copy(ctx, dst, src, record.CopyOptions{Heads: record.NewHeads(dst, nil)}); err != nil {
			t.Fatal(err)
		}
		_ = operations["erase"](ctx, &stopped{Archive: src, before: 4, during: func() {}}) // it is killed
		work()
		again(t, src, at)
	}
	work()
	stop := &stopped{Archive: dst, before: at, rests: rests, during: func() { work() }}
	_, _ = record.Copy(ctx, stop, src, record.CopyOptions{Heads: record.NewHeads(stop, nil)}) // another copy completes it
	view := work()
	if err := agent.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := record.Copy(ctx, dst, src, record.CopyOptions{Heads: record.NewHeads(dst, nil)}); err != nil {
		t.Errorf("change %d: the copy, called again: %v", at, err)
	}
	sound(t, dst, at, "the copy")
	res, err := newRig(t, compact.Config{Archive: dst}).Preflight(ctx, "s", history)
	if err != nil || bytesOf(res.Messages) != view {
		t.Errorf("change %d, erased %v: an agent in the copy has another view, %v, %v", at, erased, err, res.Warnings)
	}
	return stop.asleep
}
