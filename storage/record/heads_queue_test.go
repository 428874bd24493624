package record_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// heldHeads is an archive that holds the lines of heads back.
type heldHeads struct {
	storage.Archive
	hold chan struct{}
}

func (a *heldHeads) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if strings.HasPrefix(k.String(), "_heads") {
		<-a.hold
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// A head whose caller has given up while it waited is not written later: its caller was
// told that it is missing.
func TestAHeadThatIsGivenUpIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := memory.New()
		a := &heldHeads{mem, make(chan struct{})}
		h := record.NewHeads(a, nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := map[string]chan error{"first": make(chan error, 1), "second": make(chan error, 1), "third": make(chan error, 1)}
		for _, name := range []string{"first", "second", "third"} {
			s := session(t, a, name)
			s.KeepHeads(h)
			by := t.Context()
			if name == "second" {
				by = ctx
			}
			go func() { ended[name] <- s.Hold(by, text("asked for")) }()
			synctest.Wait()
			if name == "second" {
				cancel()
				synctest.Wait()
			}
		}
		close(a.hold)
		var head *record.HeadError
		if err := <-ended["second"]; !errors.As(err, &head) {
			t.Errorf("the hold that was given up ends with %v", err)
		}
		must(t, errors.Join(<-ended["first"], <-ended["third"]))
		lines := 0
		for info, err := range mem.List(t.Context(), storage.Key{}) {
			must(t, err)
			if strings.HasPrefix(info.Key.String(), "_heads") {
				r, err := mem.Open(t.Context(), info.Key, 0, -1)
				must(t, err)
				raw, err := io.ReadAll(r)
				must(t, err)
				lines += strings.Count(string(raw), "\n")
			}
		}
		if lines != 2 {
			t.Errorf("%d heads were written, want 2", lines)
		}
	})
}

// earlyFiles is an archive whose clock is behind that of the manifest.
type earlyFiles struct{ *memory.Archive }

func (a earlyFiles) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for info, err := range a.Archive.List(ctx, prefix) {
			info.Modified = info.Modified.Add(-time.Hour)
			if !yield(info, err) {
				return
			}
		}
	}
}

// A session that was last written to exactly at the limit is not before it.
func TestPruneLeavesASessionOfTheLimitItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, began := earlyFiles{memory.New()}, time.Now()
		step(t, session(t, a, "s"), 1)
		for after, want := range map[time.Duration]int{0: 0, time.Millisecond: 1} {
			n := 0
			for r, err := range record.Prune(t.Context(), a, record.PruneOptions{Before: began.Add(after), DryRun: true}) {
				must(t, err)
				n++
				if r.Outcome != record.WouldPrune {
					t.Errorf("%v after the last write: %s, want %s", after, r.Outcome, record.WouldPrune)
				}
			}
			if n != want {
				t.Errorf("%v after the last write: %d sessions would be pruned, want %d", after, n, want)
			}
		}
	})
}
