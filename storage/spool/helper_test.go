package spool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string, remote storage.Archive, o *spool.Options) *spool.Spool {
	t.Helper()
	s, err := spool.Open(dir, remote, o)
	must(t, err)
	t.Cleanup(func() { _ = s.Close(context.Background()) }) // some tests leave data unsent on purpose
	return s
}

func key(t testing.TB, s string) storage.Key {
	t.Helper()
	k, err := storage.ParseKey(s)
	must(t, err)
	return k
}

// text makes a redacted text of any string.
func text(s string) redact.Text {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		panic(err)
	}
	return r.Text(s)
}

var errAway = errors.New("the remote archive is away")

// remote is an archive in memory that can be unreachable, and that can execute a
// request and lose the answer.
type remote struct {
	*memory.Archive
	mu      sync.Mutex
	away    bool
	deafAt  int // every n-th write loses its answer
	writes  int
	created map[storage.Key]int // number of creates of each key

	refused  func(session string) bool // sessions whose writes are refused
	refusals int
	asked    int // number of missing answers
}

func newRemote() *remote {
	return &remote{Archive: memory.New(), created: map[storage.Key]int{}}
}

func (r *remote) goAway(away bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = away
}

func (r *remote) answers() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		r.asked++
		return errAway
	}
	return nil
}

// write executes a write, and perhaps loses the answer.
func (r *remote) write(k storage.Key, do func() error) error {
	if err := r.answers(); err != nil {
		return err
	}
	r.mu.Lock()
	if r.refused != nil && r.refused(k.Dir()) {
		defer r.mu.Unlock()
		r.refusals++
		return errRefused
	}
	r.mu.Unlock()
	err := do()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		return err
	}
	r.created[k]++
	if r.writes++; r.deafAt > 0 && r.writes%r.deafAt == 0 {
		return errAway
	}
	return nil
}

func (r *remote) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return r.write(k, func() error { return r.Archive.Create(ctx, k, b) })
}

func (r *remote) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return r.write(k, func() error { return r.Archive.Append(ctx, k, seq, b) })
}

func (r *remote) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := r.answers(); err != nil {
		return nil, err
	}
	return r.Archive.Open(ctx, k, off, n)
}

func (r *remote) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if err := r.answers(); err != nil {
		return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, err) }
	}
	return r.Archive.List(ctx, prefix)
}

func (r *remote) Remove(ctx context.Context, k storage.Key) error {
	if err := r.answers(); err != nil {
		return err
	}
	return r.Archive.Remove(ctx, k)
}

// step archives the next step of a session, as a compaction does.
func step(ctx context.Context, s *record.Session) error {
	head, err := s.Head(ctx)
	if err != nil {
		return err
	}
	lines := make([]redact.Text, 20)
	for i := range lines {
		lines[i] = text(fmt.Sprintf(`{"role":"tool","step":%d,"line":%d,"content":"what a tool said, of some length"}`, head+1, i))
	}
	w, err := s.Transcript(ctx, head+1, lines)
	if err != nil {
		return err
	}
	_, err = s.CommitStep(ctx, record.Step{
		Number: head + 1, Files: []record.Written{w},
		Drafts: []record.Draft{s.SummaryDraft(text(fmt.Sprintf(`{"summary":"of step %d"}`, head+1)))},
		Ledger: func([]record.Written) ([]redact.Text, error) {
			return []redact.Text{text(fmt.Sprintf(`{"v":1,"step":%d}`, head+1))}, nil
		},
		Beside: func(ctx context.Context, _ []record.Written) error {
			return s.Events(ctx, []redact.Text{text(fmt.Sprintf(`{"name":"one","step":%d}`, head+1)), redact.Lit(`{"name":"two"}`)})
		},
	})
	return err
}

func session(t testing.TB, a storage.Archive, id string) *record.Session {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, id)
	must(t, err)
	return s
}

// sound checks that a session verifies, with a given number of steps.
func sound(t testing.TB, a storage.Archive, id string, steps int) {
	t.Helper()
	r, err := record.Verify(t.Context(), a, id, record.VerifyOptions{})
	must(t, err)
	for _, p := range r.Problems {
		t.Errorf("verify: %s", p)
	}
	if r.Steps != steps || len(r.Abandoned()) > 0 {
		t.Errorf("%d steps are there, want %d; abandoned: %q", r.Steps, steps, r.Abandoned())
	}
}

// holdings returns everything in an archive.
func holdings(t testing.TB, a storage.Archive) map[string]string {
	t.Helper()
	out := map[string]string{}
	for info, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		b, err := spool.Stored(t.Context(), a, info.Key, 0, -1)
		must(t, err)
		out[info.Key.String()] = b.SHA256()
	}
	return out
}

// same checks that two archives hold the same.
func same(t testing.TB, got, want storage.Archive) {
	t.Helper()
	if diff := cmp.Diff(holdings(t, want), holdings(t, got)); diff != "" {
		t.Errorf("their content (-want +got):\n%s", diff)
	}
}

func keys(t testing.TB, a storage.Archive) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(holdings(t, a)))
}
