package record_test

import (
	"context"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// reading is an archive that calls a function before each listing of a session, and
// counts the reads of a manifest.
type reading struct {
	*memory.Archive
	listing             func()
	listings, manifests int
}

func (a *reading) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if a.listings++; a.listing != nil {
		a.listing()
	}
	return a.Archive.List(ctx, prefix)
}

func (a *reading) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if k.Base() == "manifest.jsonl" {
		a.manifests++
	}
	return a.Archive.Open(ctx, k, off, n)
}

// Verify checks whether a scrub or an erase overtook it only if it found a problem.
func TestAWholeSessionIsReadOnce(t *testing.T) {
	a := &reading{Archive: memory.New()}
	leaky(t, a.Archive)
	wantOK(t, a, "s")
	whole := a.manifests
	must(t, a.Create(t.Context(), mustKey(t, "s/turns-007.idx"), storage.Redacted(text("{}"))))
	a.manifests = 0
	if r := verify(t, a, "s", record.VerifyOptions{}); len(r.Problems) != 1 || a.manifests <= whole || a.listings != 2 {
		t.Errorf("%v; the manifest is opened %d times for a whole session, %d for one with a problem, in %d listings", r.Problems, whole, a.manifests, a.listings)
	}
}

// A verification that is overtaken again and again ends, and its notes state the reason.
func TestRepeatedlyOvertakenVerificationEnds(t *testing.T) {
	a := &reading{Archive: memory.New()}
	leaky(t, a.Archive)
	must(t, a.Create(t.Context(), mustKey(t, "s/turns-007.idx"), storage.Redacted(text("{}"))))
	words := []string{leaked, "hello", "user", "three", "one", "two", "they", "said", "it is", "1", "2", "content", "role"}
	a.listing = func() {
		if len(words) > 0 {
			scrubs(t, a.Archive, words[0])
			words = words[1:]
		}
	}
	r := verify(t, a, "s", record.VerifyOptions{})
	if len(r.Problems) == 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "verify it again") || a.listings != 8 {
		t.Errorf("%v %v, after %d times, want 8", r.Problems, r.Notes, a.listings)
	}
	words = nil
	if r := verify(t, a, "s", record.VerifyOptions{}); len(r.Problems) != 1 || strings.Contains(strings.Join(r.Notes, "\n"), "verify it again") {
		t.Errorf("%v %v, want one problem, and no note to verify again", r.Problems, r.Notes)
	}
}
