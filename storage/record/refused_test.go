package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// If the ledger of a step is stored but not confirmed, a refusal first confirms the
// step. Its tombstone and its head are then about the same line of the manifest.
func TestRefusalConfirmsAnUnconfirmedStep(t *testing.T) {
	a := &fallen{Archive: memory.New()}
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, nil))
	step(t, s, 1)
	must(t, second(s.Transcript(t.Context(), 2, lines("t2", 3))))
	must(t, s.Hold(t.Context(), text("case")))
	_, _ = s.Commit(t.Context(), 2, text(`{"v":1,"step":2}`))
	a.stored = false
	x := session(t, a.Archive, "s")
	x.KeepHeads(record.NewHeads(a.Archive, nil))
	if _, err := x.Erase(t.Context(), text("asked for")); !errors.Is(err, record.ErrHeld) {
		t.Errorf("erased: %v, want ErrHeld", err)
	}
	wantWhole(t, a.Archive)
}

// between is an archive that calls f before the first file is removed. If dead is set,
// it removes no file.
type between struct {
	*memory.Archive
	f    func()
	dead bool
}

func (a *between) Remove(ctx context.Context, k storage.Key) error {
	if a.dead {
		return errDead
	}
	if f := a.f; f != nil {
		a.f = nil
		f()
	}
	return a.Archive.Remove(ctx, k)
}

// One eraser stalls, so another eraser takes over its turn, and dies. The first must
// remove nothing more in its old turn, and completes the erase when it is called again.
func TestEraserRemovesNothingAfterItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		s := session(t, a, "s")
		s.KeepHeads(record.NewHeads(a, nil))
		step(t, s, 1)
		ann := session(t, &between{Archive: a, f: func() {
			bea := session(t, &between{Archive: a, dead: true}, "s")
			bea.KeepHeads(record.NewHeads(a, nil))
			bea.ActAs(text("bea"))
			if _, err := bea.Erase(t.Context(), text("also")); !errors.Is(err, errDead) {
				t.Errorf("bea: %v, want errDead", err)
			}
		}}, "s")
		ann.KeepHeads(record.NewHeads(a, nil))
		ann.ActAs(text("ann"))
		before := len(names(t, s))
		if err := second(ann.Erase(t.Context(), text("asked for"))); err == nil || !strings.Contains(err.Error(), "another process is erasing it") || len(names(t, s)) != before {
			t.Errorf("after the wait for the lock: %v, want that another process erases, and %d of %d files exist", err, len(names(t, s)), before)
		}
		begun := time.Now()
		must(t, second(ann.Erase(t.Context(), text("asked for"))))
		if waited := time.Since(begun); waited > time.Minute {
			t.Errorf("the second attempt waited for %s, although the turn of every other process is over", waited)
		}
		wantWhole(t, a)

		damage(t, a, "_erased.jsonl", `"reason":"asked for"`, `"reason":"asked fur"`)
		book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
		must(t, err)
		if gone, err := book.Vanished(t.Context(), a); err != nil || len(gone) != 1 || gone[0].OK() {
			t.Errorf("%+v, %v, want one session with problems", gone, err)
		}
	})
}
