package record_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func TestSessionsAreListedWithTheirContents(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		long := strings.Repeat("long ", 100)
		step(t, session(t, a, "b"), 1)
		step(t, session(t, a, "b"), 2)
		must(t, session(t, a, "A/1").Events(t.Context(), lines("e", 1)))
		step(t, session(t, a, long), 1)
		must(t, a.Create(t.Context(), mustKey(t, "_erased.jsonl"), storage.Blob{}))
		must(t, a.Create(t.Context(), mustKey(t, "_other/x"), storage.Blob{}))
		type row struct {
			ID    string
			Dir   string
			Files int
			Steps int
		}
		var got []row
		for i, err := range record.Sessions(t.Context(), a) {
			must(t, err)
			got = append(got, row{i.ID, i.Dir, i.Files, i.Steps})
			if i.Bytes == 0 || time.Since(i.Modified) > time.Minute {
				t.Errorf("%s: %d bytes, modified %v", i.Dir, i.Bytes, i.Modified)
			}
		}
		want := []row{{"A/1", "%41%2f1", 1, 0}, {"b", "b", 8, 2}, {"", record.EscapeSession(long), 5, 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
		for range record.Sessions(t.Context(), a) {
			break // must not panic
		}
	})
}

func TestEraseLeavesATombstoneAndNothingElse(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		id := "user@example.com"
		s := session(t, a, id)
		step(t, s, 1)
		step(t, session(t, a, "neighbor"), 1)
		stone, err := s.Erase(t.Context(), text("asked for by letter"))
		must(t, err)
		if !stone.Done || stone.Files != 5 || stone.Bytes == 0 || stone.Head == "" || stone.Reason != "asked for by letter" {
			t.Errorf("the tombstone is %+v", stone)
		}
		if got := names(t, s); len(got) > 0 {
			t.Errorf("there is still %q", got)
		}
		found, ok, err := record.Erased(t.Context(), a, id)
		if err != nil || !ok || !found.Done || found.Session != stone.Session {
			t.Errorf("Erased: %+v, %v, %v; want true and no error", found, ok, err)
		}
		if _, ok, err := record.Erased(t.Context(), a, "neighbor"); ok || err != nil {
			t.Errorf("the neighbor is erased: %v, %v; want false and no error", ok, err)
		}
		wantOK(t, a, "neighbor")
		r, err := record.VerifyTombstones(t.Context(), a)
		if err != nil || !r.OK() || r.Head == "" {
			t.Errorf("VerifyTombstones: %+v, %v", r, err)
		}
		for info, err := range a.List(t.Context(), storage.Key{}) {
			must(t, err)
			if info.Key.Dir() != "neighbor" && strings.Contains(readKey(t, a, info.Key)+info.Key.String(), "example") {
				t.Errorf("%s still tells whose session it was", info.Key)
			}
		}
		if _, err := s.Erase(t.Context(), redact.Text{}); !errors.Is(err, storage.ErrNotExist) {
			t.Errorf("erasing again: %v, want ErrNotExist", err)
		}
		if err := tryStep(t.Context(), s, 2); !errors.Is(err, record.ErrErased) {
			t.Errorf("writing on: %v, want ErrErased", err)
		}
	})
}

// busy is an archive with a concurrent writer during removals. It records the removed
// keys.
type busy struct {
	*memory.Archive
	write func()
	gone  []string
}

func (a *busy) Remove(ctx context.Context, k storage.Key) error {
	if a.write != nil {
		a.write()
		a.write = nil
	}
	a.gone = append(a.gone, k.Base())
	return a.Archive.Remove(ctx, k)
}

func TestEraseRemovesTheLastLedgerFirstAndConcurrentFiles(t *testing.T) {
	a := &busy{Archive: memory.New()}
	s := session(t, a, "s")
	for n := range 3 {
		step(t, s, n+1)
	}
	late := mustKey(t, "s/transcript-pre-compact-004.jsonl") // the writer of this file had announced it before
	a.write = func() { must(t, a.Create(t.Context(), late, storage.Redacted(text("late")))) }
	must(t, second(s.Erase(t.Context(), redact.Text{})))
	if got := names(t, s); len(got) > 0 {
		t.Errorf("there is still %q", got)
	}
	if want := []string{"ledger-003.json", "ledger-002.json", "ledger-001.json"}; !slices.Equal(a.gone[:3], want) {
		t.Errorf("%q was removed first, want %q", a.gone[:3], want)
	}
	if n := len(a.gone); a.gone[n-1] != "manifest.jsonl" || a.gone[n-3] != late.Base() {
		t.Errorf("%q was removed last, want the late files and then the manifest", a.gone[n-3:])
	}
}

func TestCheckpointWithoutNewStepsWritesNothing(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s := session(t, a, "s")
		must(t, s.Checkpoint(t.Context()))
		must(t, s.Events(t.Context(), lines("e", 2)))
		must(t, s.Checkpoint(t.Context()))
		head := s.ManifestHead()
		must(t, s.Checkpoint(t.Context()))
		if head == "" || s.ManifestHead() != head {
			t.Errorf("the manifest is now\n%s", content(t, s, "manifest.jsonl"))
		}
		must(t, s.Events(t.Context(), lines("e", 1)))
		must(t, s.Checkpoint(t.Context()))
		if s.ManifestHead() == head {
			t.Error("a new line is not marked")
		}
	})
}

// endless is an archive of large files, in which a reader stops after some pieces.
type endless struct {
	*memory.Archive
	stop   context.CancelFunc // nil: the files are not changed
	pieces int
}

func (a *endless) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	switch {
	case a.stop == nil:
		return a.Archive.Open(ctx, k, off, n)
	case a.pieces > 30:
		return nil, storage.Wrap("open", k, storage.ErrNotExist)
	}
	return io.NopCloser(a), nil
}

func (a *endless) Read(p []byte) (int, error) {
	switch a.pieces++; {
	case a.pieces == 3:
		a.stop()
	case a.pieces > 30: // the reader did not stop
		return 0, io.EOF
	}
	return len(p), nil
}

func TestReadingALargeFileEndsWithItsContext(t *testing.T) {
	for what, read := range map[string]func(context.Context, *record.Session) error{
		"Read": func(ctx context.Context, s *record.Session) error {
			return second(s.Read(ctx, "journal.jsonl", 0, 1<<40))
		},
		"Export": func(ctx context.Context, s *record.Session) error {
			return s.Export(ctx, io.Discard, record.ExportTarGz, record.ExportOptions{})
		},
		"Verify": func(ctx context.Context, s *record.Session) error {
			return second(s.Verify(ctx, record.VerifyOptions{}))
		},
		"Journal": func(ctx context.Context, s *record.Session) error { return lastError(s.JournalLines(ctx)) },
		"Ledgers": func(ctx context.Context, s *record.Session) error { return lastError(s.Ledgers(ctx, 1)) },
	} {
		a := &endless{Archive: memory.New()}
		s := session(t, a, "s")
		step(t, s, 1)
		ctx, cancel := context.WithCancel(t.Context())
		a.stop = cancel
		if err := read(ctx, s); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v after %d pieces, want context.Canceled", what, err, a.pieces)
		}
	}
}

func lastError[T any](all iter.Seq2[T, error]) (err error) {
	for _, err = range all {
	}
	return err
}

func readKey(t *testing.T, a storage.Archive, k storage.Key) string {
	t.Helper()
	r, err := a.Open(t.Context(), k, 0, -1)
	must(t, err)
	data, err := io.ReadAll(r)
	must(t, errors.Join(err, r.Close()))
	return string(data)
}

func TestVerifyTombstonesDetectsAMissingOne(t *testing.T) {
	root := t.TempDir()
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	if r, err := record.VerifyTombstones(t.Context(), a); err != nil || !r.OK() {
		t.Errorf("of none: %+v, %v", r, err)
	}
	for _, id := range []string{"a", "b"} {
		s := session(t, a, id)
		step(t, s, 1)
		must(t, second(s.Erase(t.Context(), redact.Text{})))
	}
	path := filepath.Join(root, "_erased.jsonl")
	data, err := os.ReadFile(path)
	must(t, err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	must(t, os.WriteFile(path, bytes.Join(lines[2:], nil), 0o600))
	if r, err := record.VerifyTombstones(t.Context(), a); err != nil || r.OK() {
		t.Errorf("two tombstones are gone: %+v, %v", r, err)
	}
}

func TestHoldStopsErasing(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s := session(t, a, "s")
		step(t, s, 1)
		holder := session(t, a, "s")
		holder.ActAs(text("m. k."))
		must(t, holder.Hold(t.Context(), text("case 7")))
		if h, err := s.Held(t.Context()); !h.Held || h.Reason != "case 7" || h.Who != "m. k." || time.Since(h.Since) > time.Hour || err != nil {
			t.Errorf("Held: %+v, %v", h, err)
		}
		if _, err := s.Erase(t.Context(), redact.Text{}); !errors.Is(err, record.ErrHeld) {
			t.Errorf("erasing: %v, want ErrHeld", err)
		}
		wantOK(t, a, "s")
		must(t, s.Release(t.Context(), text("closed")))
		if h, err := session(t, a, "s").Held(t.Context()); h != (record.LegalHold{}) || err != nil {
			t.Errorf("Held after Release: %+v, %v", h, err)
		}
		must(t, second(s.Erase(t.Context(), redact.Text{})))
	})
}

// fixed is an archive without Remove.
type fixed struct{ storage.Archive }

func TestEraseNeedsARemover(t *testing.T) {
	a := fixed{memory.New()}
	s := session(t, a, "s")
	step(t, s, 1)
	if _, err := s.Erase(t.Context(), redact.Text{}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
	wantOK(t, a, "s")
}

// stubborn fails to remove one file.
type stubborn struct {
	*memory.Archive
	keep string
}

func (a *stubborn) Remove(ctx context.Context, k storage.Key) error {
	if k.Base() == a.keep {
		return &storage.Error{Op: "remove", Key: k, Err: errDisk}
	}
	return a.Archive.Remove(ctx, k)
}

// TestInterruptedEraseIsDetectedAndCanBeCompleted: a repeated erase waits for a dead
// process, because that might still run.
func TestInterruptedEraseIsDetectedAndCanBeCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, keep := range []string{"ledger-002.json", "events.jsonl", "transcript-pre-compact-001.jsonl", "manifest.jsonl"} {
			a := &stubborn{memory.New(), keep}
			s := session(t, a, "s")
			step(t, s, 1)
			step(t, s, 2)
			if _, err := s.Erase(t.Context(), redact.Text{}); !errors.Is(err, errDisk) {
				t.Fatalf("%s: %v, want the error of the disk", keep, err)
			}
			if stone, ok, err := record.Erased(t.Context(), a, "s"); !ok || stone.Done || err != nil {
				t.Errorf("%s: the tombstone is %+v, %v, %v; want true and no error", keep, stone, ok, err)
			}
			if err := tryStep(t.Context(), session(t, a, "s"), 3); !errors.Is(err, record.ErrErased) {
				t.Errorf("%s: writing to a session during its erase: %v, want ErrErased", keep, err)
			}
			// A hold on the remaining files would protect nothing, and would prevent a later call
			// from completing the erase.
			for name, hold := range map[string]func(context.Context, redact.Text) error{"hold": session(t, a, "s").Hold, "release": session(t, a, "s").Release} {
				if err := hold(t.Context(), text("case 7")); !errors.Is(err, record.ErrErased) {
					t.Errorf("%s: %s during an erase: %v, want ErrErased", keep, name, err)
				}
			}
			a.keep = ""
			must(t, second(session(t, a, "s").Erase(t.Context(), redact.Text{})))
			if got := names(t, s); len(got) > 0 {
				t.Errorf("%s: there is still %q", keep, got)
			}
			step(t, session(t, a, "s"), 1) // the name is free again
			wantOK(t, a, "s")
		}
	})
}

// thumbed is an index that records the sessions that it is told to forget.
type thumbed struct{ dirs []string }

func (x *thumbed) Forget(_ context.Context, dirs ...string) error {
	x.dirs = append(x.dirs, dirs...)
	return nil
}

func TestPruneRemovesOldSessionsWithoutAHold(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		for _, id := range []string{"old", "held", "older"} {
			step(t, session(t, a, id), 1)
		}
		must(t, session(t, a, "held").Hold(t.Context(), text("case 7")))
		time.Sleep(20 * time.Millisecond)
		before := time.Now()
		time.Sleep(20 * time.Millisecond)
		step(t, session(t, a, "new"), 1)
		prune := func(opts record.PruneOptions) map[string]record.PruneOutcome {
			got := map[string]record.PruneOutcome{}
			for r, err := range record.Prune(t.Context(), a, opts) {
				must(t, err)
				must(t, r.Err)
				got[r.Session.ID] = r.Outcome
			}
			return got
		}
		if got := prune(record.PruneOptions{}); len(got) > 0 {
			t.Errorf("older than the beginning of time: %v", got)
		}
		want := map[string]record.PruneOutcome{"old": record.WouldPrune, "older": record.WouldPrune, "held": record.KeptHeld}
		index := &thumbed{}
		if diff := cmp.Diff(want, prune(record.PruneOptions{Before: before, DryRun: true, Index: index})); diff != "" || len(index.dirs) > 0 {
			t.Errorf("dry run (-want +got):\n%s; the index loses %q", diff, index.dirs)
		}
		want = map[string]record.PruneOutcome{"old": record.Pruned, "older": record.Pruned, "held": record.KeptHeld}
		if diff := cmp.Diff(want, prune(record.PruneOptions{Before: before, Reason: text("90 days"), Index: index})); diff != "" {
			t.Errorf("pruned (-want +got):\n%s", diff)
		}
		if slices.Sort(index.dirs); !slices.Equal(slices.Compact(index.dirs), []string{"old", "older"}) {
			t.Errorf("the index loses %q", index.dirs)
		}
		want = map[string]record.PruneOutcome{"held": record.KeptHeld}
		if diff := cmp.Diff(want, prune(record.PruneOptions{Before: before})); diff != "" {
			t.Errorf("again (-want +got):\n%s", diff)
		}
		wantOK(t, a, "held")
		wantOK(t, a, "new")
		if stone, ok, err := record.Erased(t.Context(), a, "old"); !ok || stone.Reason != "90 days" || err != nil {
			t.Errorf("the tombstone: %+v, %v, %v; want true and no error", stone, ok, err)
		}
	})
}

// If a user names a folder or a bucket of another program as the archive by mistake, the other
// program's folders are kept.
func TestFoldersOfOthersAreNeverRemoved(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		key := mustKey(t, "photos/a.txt")
		must(t, a.Create(t.Context(), key, storage.Blob{}))
		for _, dry := range []bool{true, false} {
			for r, err := range record.Prune(t.Context(), a, record.PruneOptions{Before: time.Now().Add(time.Hour), DryRun: dry}) {
				must(t, err)
				if r.Session.Dir != "photos" || r.Outcome != record.KeptForeign || r.Err != nil || !r.Session.Foreign() {
					t.Errorf("dry %t: %+v", dry, r)
				}
			}
		}
		if _, err := session(t, a, "photos").Erase(t.Context(), text("by mistake")); !errors.Is(err, record.ErrForeign) {
			t.Errorf("erase: %v, want ErrForeign", err)
		}
		files := 0
		for i, err := range a.List(t.Context(), storage.Key{}) {
			must(t, err)
			files++
			if i.Key != key {
				t.Errorf("there is %s, want %s", i.Key, key)
			}
		}
		if files != 1 {
			t.Errorf("%d files, want 1", files)
		}
	})
}

func TestPruneKeepsAReactivatedSession(t *testing.T) {
	below := memory.New()
	step(t, session(t, below, "s"), 1)
	time.Sleep(20 * time.Millisecond)
	before := time.Now()
	a := &reviving{Archive: below, revive: func() {
		time.Sleep(20 * time.Millisecond)
		step(t, session(t, below, "s"), 2)
	}}
	for r, err := range record.Prune(t.Context(), a, record.PruneOptions{Before: before}) {
		must(t, err)
		if r.Outcome != record.KeptInUse {
			t.Errorf("it was %s, %v, want %s", r.Outcome, r.Err, record.KeptInUse)
		}
	}
	if r := wantOK(t, below, "s"); r.Steps != 2 {
		t.Errorf("%d steps are left, want 2", r.Steps)
	}
}

// reviving calls revive before its first Append.
type reviving struct {
	*memory.Archive
	revive func()
}

func (a *reviving) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if do := a.revive; do != nil {
		a.revive = nil
		do()
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func TestPruneUsesTheLaterTimeOfManifestAndFile(t *testing.T) {
	root := t.TempDir()
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	step(t, session(t, a, "s"), 1)
	ancient := time.Now().Add(-1000 * time.Hour)
	entries, err := os.ReadDir(filepath.Join(root, "s"))
	must(t, err)
	for _, e := range entries { // as a careless copy would
		must(t, os.Chtimes(filepath.Join(root, "s", e.Name()), ancient, ancient))
	}
	for r, err := range record.Prune(t.Context(), a, record.PruneOptions{Before: time.Now().Add(-time.Hour)}) {
		t.Errorf("%s: %s, %v", r.Session.Dir, r.Outcome, err)
	}
	wantOK(t, a, "s")
}

// timeless is a place that does not report when files were written.
type timeless struct {
	*memory.Archive
	only string // the one file whose time is unknown; "": all files
}

func (a timeless) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for info, err := range a.Archive.List(ctx, prefix) {
			if a.only == "" || a.only == info.Key.Base() {
				info.Modified = time.Time{}
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

// A session with only logs records no time of its last write. If the time of one file
// is unknown, the time of the session is unknown, too.
func TestPruneKeepsSessionsOfUnknownAge(t *testing.T) {
	for _, only := range []string{"", "events.jsonl", "journal.jsonl"} {
		a := timeless{memory.New(), only}
		must(t, session(t, a, "live").Events(t.Context(), lines("e", 2)))
		must(t, session(t, a, "live").Journal(t.Context(), lines("j", 2)))
		var got []record.PruneOutcome
		for r, err := range record.Prune(t.Context(), a, record.PruneOptions{Before: time.Now().Add(time.Hour)}) {
			must(t, err)
			got = append(got, r.Outcome)
		}
		if len(got) != 1 || got[0] != record.KeptUnknown || len(names(t, session(t, a, "live"))) == 0 {
			t.Errorf("%q: outcomes %q, files %q", only, got, names(t, session(t, a, "live")))
		}
	}
}
