package compact_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// deaf is an archive whose Append does not end with its context.
type deaf struct {
	*memory.Archive
	hangs   atomic.Bool
	release chan struct{}
}

func (d *deaf) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if d.hangs.Load() {
		<-d.release
	}
	return d.Archive.Append(ctx, k, seq, b)
}

// A writer in the background that never returns does not keep Close beyond its context.
func TestCloseDoesNotWaitForAWriterThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &deaf{Archive: memory.New(), release: make(chan struct{})}
		m, err := compact.New(t.Context(), compact.Config{MaxContextTokens: 8_000, Archive: a})
		if err != nil {
			t.Fatal(err)
		}
		a.hangs.Store(true)
		if _, err := m.Preflight(t.Context(), "s", turns(2, 10)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute) // the lines of the audit log are due
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		err = m.Close(ctx)
		if waited := time.Since(began); err == nil || waited > 2*time.Minute {
			t.Errorf("Close returned %v after %s, although lines could not be written", err, waited)
		}
		close(a.release)
		if err := m.Close(t.Context()); err != nil {
			t.Errorf("once the archive answers: %v", err)
		}
	})
}
