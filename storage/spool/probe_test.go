package spool

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// silentArchive is a remote archive that does not answer before the context ends.
type silentArchive struct{ storage.Archive }

func (silentArchive) List(ctx context.Context, _ storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		<-ctx.Done()
		yield(storage.Info{}, ctx.Err())
	}
}

// While the spool tests whether the remote archive answers, other sessions can record
// their outcome and ask whether to continue.
func TestRequestsToTheRemoteArchiveBlockNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &passState{s: &Spool{remote: silentArchive{}, turns: map[string]turn{}}}
		for range sessionsAtOnce - 1 {
			p.note(t.Context(), "s", errors.New("refused"))
		}
		noted := make(chan struct{})
		go func() {
			defer close(noted)
			p.note(t.Context(), "s", errors.New("refused"))
		}()
		synctest.Wait()
		select {
		case <-noted:
			t.Fatal("no server was asked: the test proves nothing")
		default:
		}
		if !p.mu.TryLock() {
			t.Error("the pass is locked while the remote archive is asked")
		} else {
			p.mu.Unlock()
			p.note(t.Context(), "t", nil)
		}
		<-noted
		if !p.isOver() {
			t.Error("the remote archive does not answer, and the pass continues")
		}
		if err := p.end(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end of the pass returned %v, want DeadlineExceeded", err)
		}
	})
}

// answering is an archive that answers the first listings, and counts them.
type answering struct {
	storage.Archive
	listed, answers int
}

func (a *answering) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if a.listed++; a.listed <= a.answers {
		return a.Archive.List(ctx, prefix)
	}
	return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, errors.New("away")) }
}

// After every fourth failure in a row, a pass asks whether the remote archive answers at
// all, even if the archive answered the last time: it can become unreachable during the
// pass.
func TestAPassAsksAgainWhetherTheRemoteArchiveAnswers(t *testing.T) {
	far := &answering{Archive: memory.New(), answers: 2}
	p := &passState{s: &Spool{remote: far, turns: map[string]turn{}}}
	for i, want := range []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3} {
		p.note(t.Context(), "s", errors.New("refused"))
		if over := i >= 11; far.listed != want || p.isOver() != over {
			t.Errorf("after %d failures the pass had asked %d times, and was over: %v; want %d and %v", i+1, far.listed, p.isOver(), want, over)
		}
	}
}
