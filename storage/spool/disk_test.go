package spool

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// TestALineOfTheQueueIsDurableBeforeItsData records which files are synced, and checks that
// the data is not on the disk before its line of the queue is.
func TestALineOfTheQueueIsDurableBeforeItsData(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, memory.New(), &Options{Passive: true})
	if err != nil {
		t.Fatal(err)
	}
	var synced []string
	now := "" // key that is being written
	real, random := syncFile, regexp.MustCompile(`\.new-.*`)
	syncFile = func(f *os.File) error {
		name, err := filepath.Rel(dir, f.Name())
		synced = append(synced, random.ReplaceAllString(filepath.ToSlash(name), "a new file"))
		if _, serr := os.Stat(filepath.Join(dir, "archive", now)); serr == nil {
			t.Errorf("%s is on the disk before %s is synced", now, name)
		}
		return errors.Join(err, real(f))
	}
	defer func() { syncFile = real }()
	blob := storage.Redacted(redact.Lit("line\n"))
	write := map[string]func(k storage.Key) error{
		"s/f":   func(k storage.Key) error { return s.Create(t.Context(), k, blob) },
		"s/log": func(k storage.Key) error { return s.Append(t.Context(), k, 0, blob) },
	}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"s/f", []string{"state", "state/s/a new file", "state/s", "state/s/queue", "state/s"}},
		{"s/log", []string{"state/s/queue"}},
	} {
		k, err := storage.ParseKey(c.name)
		synced, now = nil, c.name
		if err := errors.Join(err, write[c.name](k)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, synced); diff != "" {
			t.Errorf("synced for %s (-want +got):\n%s", c.name, diff)
		}
	}
	syncFile = real
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestTheOriginOfASessionIsRemovedFirst checks the order in which a session is removed
// from the disk: after a power loss, the rest must not look like a whole session.
func TestTheOriginOfASessionIsRemovedFirst(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, memory.New(), &Options{Passive: true})
	if err != nil {
		t.Fatal(err)
	}
	k, err := storage.ParseKey("s/f")
	if err = errors.Join(err, s.Create(t.Context(), k, storage.Redacted(redact.Lit("line\n"))), s.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	real, last := syncFile, ""
	defer func() { syncFile = real }()
	syncFile = func(f *os.File) error {
		_, err := os.Stat(filepath.Join(dir, "archive", "s", "f"))
		if _, oerr := os.Stat(s.state("s", originFile)); err == nil && errors.Is(oerr, os.ErrNotExist) {
			last = f.Name()
		}
		return real(f)
	}
	if err := s.evict(t.Context(), time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "archive", "s", "f")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the file is still on the disk: %v, want ErrNotExist", err)
	}
	if last != s.state("s") {
		t.Errorf("before the file went, and without its origin, %q was synced, want %q", last, s.state("s"))
	}
	syncFile = real
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A crash between the removal of a session's origin and that of its files leaves a rest. It
// must not keep the sessions after it on the disk.
func TestTheRestOfAnInterruptedRemovalIsRemoved(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, memory.New(), &Options{Passive: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a/f", "b/f"} {
		k, err := storage.ParseKey(name)
		if err = errors.Join(err, s.Create(t.Context(), k, storage.Redacted(redact.Lit("line\n")))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Flush(t.Context()), os.Remove(s.state("a", originFile)), s.evict(t.Context(), time.Nanosecond)); err != nil {
		t.Error(err)
	}
	for _, session := range []string{"a", "b"} {
		for _, sub := range []string{"archive", "state"} {
			if _, err := os.Stat(filepath.Join(dir, sub, session)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s of %s is still on the disk: %v, want ErrNotExist", sub, session, err)
			}
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A session that was written to after evict looked at it, and before evict had its locks,
// stays on the disk.
func TestASessionThatWaitsUnderTheLocksStays(t *testing.T) {
	s, err := Open(t.TempDir(), memory.New(), &Options{Passive: true})
	if err != nil {
		t.Fatal(err)
	}
	k, err := storage.ParseKey("s/log")
	line := storage.Redacted(redact.Lit("line\n"))
	if err = errors.Join(err, s.Append(t.Context(), k, 0, line), s.Flush(t.Context()), s.Append(t.Context(), k, line.Size(), line)); err != nil {
		t.Fatal(err)
	}
	if err := s.evictLocked(t.Context(), "s", 0); err != nil {
		t.Fatal(err)
	}
	if w, err := s.Waiting(); err != nil || w.Operations != 1 || len(w.Conflicts) > 0 {
		t.Errorf("%+v, %v, want one waiting operation and no conflict", w, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
