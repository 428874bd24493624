package spool

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/storage"
)

// silent is a remote archive that does not answer before the context ends.
type silent struct{ storage.Archive }

func (silent) List(ctx context.Context, _ storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		<-ctx.Done()
		yield(storage.Info{}, ctx.Err())
	}
}

// While the spool tests whether the remote archive answers, other sessions can record
// their outcome and ask whether to continue.
func TestRequestsToTheRemoteArchiveBlockNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &passing{s: &Spool{remote: silent{}, turns: map[string]turn{}}}
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
		if !p.over() {
			t.Error("the remote archive does not answer, and the pass continues")
		}
		if err := p.end(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ends with %v", err)
		}
	})
}
