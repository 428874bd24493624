package record_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// hangingArchive completes appends only after a long time and ignores the context, like
// a disk that is gone.
type hangingArchive struct {
	storage.Archive
	hangs chan struct{}
}

func (a *hangingArchive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.hangs != nil {
		<-a.hangs
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// A caller that waits for a stuck log waits no longer than its context allows. A caller
// that requests nothing new does not wait at all.
func TestCallersOfAStuckLogWaitNoLongerThanTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &hangingArchive{Archive: memory.New()}
		s, err := record.OpenSession(t.Context(), a, "s")
		if err != nil {
			t.Fatal(err)
		}
		line := []redact.Text{redact.Lit("{}")}
		if err := errors.Join(s.Events(t.Context(), line), s.Journal(t.Context(), line), s.Checkpoint(t.Context())); err != nil {
			t.Fatal(err)
		}
		a.hangs = make(chan struct{})
		for _, stuck := range []func(){
			func() { _ = s.Events(t.Context(), line) },
			func() { _ = s.Journal(t.Context(), line) },
			func() { _, _ = s.Transcript(t.Context(), 1, line) },
		} {
			go stuck()
		}
		synctest.Wait()
		for name, call := range map[string]func(ctx context.Context) error{
			"Events":     func(ctx context.Context) error { return s.Events(ctx, line) },
			"Journal":    func(ctx context.Context) error { return s.Journal(ctx, line) },
			"Transcript": func(ctx context.Context) error { _, err := s.Transcript(ctx, 1, line); return err },
			"Final":      func(ctx context.Context) error { _, err := s.Final(ctx, line); return err },
			"Hold":       func(ctx context.Context) error { return s.Hold(ctx, redact.Lit("why")) },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			began := time.Now()
			err := call(ctx)
			cancel()
			var typed *storage.Error
			if waited := time.Since(began); waited != 100*time.Millisecond || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &typed) {
				t.Errorf("%s waited %s: %v, want DeadlineExceeded", name, waited, err)
			}
		}
		if began := time.Now(); s.ManifestHead() == "" || time.Since(began) > 0 {
			t.Error("reading the manifest's head waits, or returns nothing")
		}
		close(a.hangs)
	})
}
