package compact_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// tombstones rewrites the log of tombstones.
func tombstones(t *testing.T, a *memory.Archive, pairs ...string) {
	t.Helper()
	k, err := storage.ParseKey("_erased.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := a.Open(t.Context(), k, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, a.Remove(t.Context(), k)); err != nil {
		t.Fatal(err)
	}
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	text := plain.Text(strings.NewReplacer(pairs...).Replace(string(b)))
	if err := a.Append(t.Context(), k, 0, storage.Redacted(text)); err != nil {
		t.Fatal(err)
	}
}

// archived stores something of session s, and returns the folders of the archive.
func archived(t *testing.T, c compact.Config) (dirs []string) {
	t.Helper()
	r := newRig(t, c)
	_ = r.Archive(t.Context(), "s", loop(2, 10))
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for s, err := range record.Sessions(t.Context(), c.Archive) {
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, s.ID)
	}
	return dirs
}

func erase(t *testing.T, a storage.Archive, id string) {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Erase(t.Context(), redact.Lit("asked for")); err != nil {
		t.Fatal(err)
	}
}

// With refuse, no data is stored for a session that a damaged tombstone may be
// about.
func TestDamagedTombstoneRefuses(t *testing.T) {
	for policy, want := range map[string]int{"refuse": 0, "new": 1} {
		c := compact.Config{Archive: memory.New()}
		c.Storage.Erased = policy
		archived(t, c)
		erase(t, c.Archive, "s")
		tombstones(t, c.Archive.(*memory.Archive), `"session":"`, `"session":"x`)
		if dirs := archived(t, c); len(dirs) != want {
			t.Errorf("another number of folders than wanted: %s: %q", policy, dirs)
		}
	}
}

// A damaged tombstone without its hash does not hide the session's later life.
func TestNewLifeAfterADamagedTombstone(t *testing.T) {
	c := compact.Config{Archive: memory.New()}
	archived(t, c)
	erase(t, c.Archive, "s")
	tombstones(t, c.Archive.(*memory.Archive), `"head":"`, `"head":"x`, `"at":"20`, `"at":"x0`)
	dirs := archived(t, c)
	names, err := compact.Lives(t.Context(), c.Archive, "s")
	if err != nil || len(dirs) != 1 || !slices.Equal(names, dirs) {
		t.Errorf("%q, want %q, %v", names, dirs, err)
	}
}

// endless is an archive that does not record the end of an erase.
type endless struct{ *memory.Archive }

var errEndless = errors.New("the process is dead")

func (a endless) Append(ctx context.Context, k storage.Key, off int64, b storage.Blob) error {
	if data, err := io.ReadAll(b.Reader()); err != nil || strings.Contains(string(data), `"done":true`) {
		return errors.Join(err, errEndless)
	}
	return a.Archive.Append(ctx, k, off, b)
}

// An erase of a later life that was killed is found under the id of the session.
func TestUnfinishedEraseOfALaterLife(t *testing.T) {
	a := memory.New()
	c := compact.Config{Archive: a}
	archived(t, c)
	erase(t, a, "s")
	later := archived(t, c)
	s, err := record.OpenSession(t.Context(), endless{a}, later[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Erase(t.Context(), redact.Lit("asked for")); !errors.Is(err, errEndless) {
		t.Fatal(err)
	}
	if names, err := compact.Lives(t.Context(), a, "s"); err != nil || len(names) > 0 {
		t.Errorf("%q, %v, want no folder and no error", names, err)
	}
	if names, err := compact.Unended(t.Context(), a, "s"); err != nil || !slices.Equal(names, later) {
		t.Errorf("%q, want %q, %v", names, later, err)
	}
	erase(t, a, later[0])
	if names, err := compact.Unended(t.Context(), a, "s"); err != nil || len(names) > 0 {
		t.Errorf("%q, %v, want no folder and no error", names, err)
	}
}
