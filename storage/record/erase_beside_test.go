package record_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// slowOpen is an archive that calls a function before a file is opened.
type slowOpen struct {
	*memory.Archive
	name string
	do   func()
}

func (a *slowOpen) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if do := a.do; do != nil && strings.HasPrefix(k.Base(), a.name) {
		a.do = nil
		do()
	}
	return a.Archive.Open(ctx, k, off, n)
}

// An operator must learn of the erase, not of a missing file or a truncated log.
func TestAReaderGetsErrErasedDuringAnErase(t *testing.T) {
	t.Parallel()
	for what, read := range map[string]func(*record.Session) error{
		"export": func(s *record.Session) error {
			return s.Export(context.Background(), io.Discard, record.ExportTarGz, record.ExportOptions{})
		},
		"scrub": func(s *record.Session) error {
			_, err := s.Scrub(context.Background(), record.ScrubOptions{Find: finds(leaked)})
			return err
		},
	} {
		for _, name := range []string{"transcript-pre-compact-001", "events"} {
			a := &slowOpen{Archive: memory.New(), name: name}
			s := leaky(t, a)
			a.do = func() { must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for")))) }
			if err := read(s); !errors.Is(err, record.ErrErased) || a.do != nil {
				t.Errorf("%s: at %s it ends with %v, and the session was erased", what, name, err)
			}
		}
	}
}

// Without a tombstone the error stays the same.
func TestAMissingFileIsNoErase(t *testing.T) {
	t.Parallel()
	a := &slowOpen{Archive: memory.New(), name: "transcript-pre-compact-001"}
	s := leaky(t, a)
	a.do = func() { must(t, a.Remove(t.Context(), mustKey(t, "s/transcript-pre-compact-001.jsonl"))) }
	err := s.Export(t.Context(), io.Discard, record.ExportTarGz, record.ExportOptions{})
	if !errors.Is(err, storage.ErrNotExist) || errors.Is(err, record.ErrErased) {
		t.Errorf("the export ends with %v, want ErrNotExist", err)
	}
}

// The error must be ErrErased, not ErrStep for the missing previous step: then the caller
// starts over, and does not report a gap.
func TestAStepAfterErasedOnesReturnsErrErased(t *testing.T) {
	t.Parallel()
	a := memory.New()
	s, other := session(t, a, "s"), session(t, a, "s")
	step(t, s, 1)
	step(t, other, 2)
	must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
	if err := second(s.CommitStep(t.Context(), wholeStep(s, 3, nil))); !errors.Is(err, record.ErrErased) {
		t.Errorf("the step ends with %v, want ErrErased", err)
	}
	if left := inFolder(t, a, "s"); len(left) > 0 {
		t.Errorf("the erased session still has %q", left)
	}
}

// If two copies run at once, one ends with an error and can be repeated. The heads of a
// copy are not stored before the data that they prove.
func TestTwoCopiesAtOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"manifest", "transcript-pre-compact-001"} {
		src := lived(t)
		dst := &copying{Archive: memory.New(), name: name}
		dst.do = func() {
			whole := memory.New()
			must(t, second(record.Copy(t.Context(), whole, src, record.CopyOptions{})))
			for k, data := range everything(t, whole) { // the other erase has removed this file and is still running
				if strings.HasPrefix(k, "alice/"+name) {
					must(t, dst.Archive.Append(t.Context(), mustKey(t, k), 0, storage.Redacted(text("%s", data))))
				}
			}
		}
		_, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
		if !errors.Is(err, record.ErrInUse) || errors.Is(err, storage.ErrSeq) || dst.do != nil {
			t.Errorf("%s: the copy ends with %v, want ErrInUse", name, err)
		}
		for k := range everything(t, dst) {
			if strings.HasPrefix(k, "_heads/") {
				t.Errorf("%s: the copy has %s, but not the data that it proves", name, k)
			}
		}
		must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
		wantCopy(t, dst, src)
	}
}

// copying is an archive that calls a function before a file of a session is written.
type copying struct {
	*memory.Archive
	name string
	do   func()
}

func (a *copying) before(k storage.Key) {
	if do := a.do; do != nil && k.Dir() == "alice" && strings.HasPrefix(k.Base(), a.name) {
		a.do = nil
		do()
	}
}

func (a *copying) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	a.before(k)
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *copying) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	a.before(k)
	return a.Archive.Create(ctx, k, b)
}

// TestScrubOvertakenByAHoldLeavesNoFile: the scrub removes its waiting files.
func TestScrubOvertakenByAHoldLeavesNoFile(t *testing.T) {
	t.Parallel()
	shared := memory.New()
	leaky(t, shared)
	held := false
	a := &gated{Archive: shared}
	a.before = func(op string, k storage.Key) {
		if op == "append" && k.Base() == "manifest.jsonl" && !held { // the writer's files wait, and are not recorded yet
			held = true
			must(t, session(t, shared, "s").Hold(t.Context(), text("a case")))
		}
	}
	if _, err := session(t, a, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}); !errors.Is(err, record.ErrHeld) || !held {
		t.Errorf("the scrub ends with %v, want ErrHeld", err)
	}
	if left := inFolder(t, shared, "s"); slices.ContainsFunc(left, waiting) {
		t.Errorf("the folder has the files %q", left)
	}
	proven(t, shared)
}

func waiting(name string) bool { return strings.HasPrefix(name, "scrub.") }

// TestAScrubRemovesOnlyItsOwnWaitingFiles: other waiting files may belong to a scrub that
// is recorded next.
func TestAScrubRemovesOnlyItsOwnWaitingFiles(t *testing.T) {
	t.Parallel()
	const other = "scrub.aaaaaaaaaaaaa.events.jsonl"
	shared := memory.New()
	leaky(t, shared)
	put := false
	a := &gated{Archive: shared}
	a.before = func(op string, k storage.Key) {
		if op == "remove" && !put { // the scrub puts its files in place
			put = true
			must(t, shared.Create(t.Context(), mustKey(t, "s/"+other), storage.Redacted(text("{}"))))
		}
	}
	must(t, second(session(t, a, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})))
	if left := slices.DeleteFunc(inFolder(t, shared, "s"), func(name string) bool { return !waiting(name) }); !slices.Equal(left, []string{other}) {
		t.Errorf("the files %q still wait, want %q", left, []string{other})
	}
}

// TestAScrubOfVersion010IsCompleted: its waiting files have no id in their names.
func TestAScrubOfVersion010IsCompleted(t *testing.T) {
	t.Parallel()
	a := &stuck{Archive: memory.New()}
	s := leaky(t, a)
	a.dead = true
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: 1}); !errors.Is(err, errDead) {
		t.Fatal(err)
	}
	a.dead = false
	renamed := 0
	for _, name := range inFolder(t, a, "s") {
		if rest, ok := strings.CutPrefix(name, "scrub."); ok {
			_, is, _ := strings.Cut(rest, ".")
			data := everything(t, a)["s/"+name]
			must(t, a.Create(t.Context(), mustKey(t, "s/scrub."+is), storage.Redacted(text("%s", data))))
			must(t, a.Remove(t.Context(), mustKey(t, "s/"+name)))
			renamed++
		}
	}
	if renamed < 3 {
		t.Fatalf("%d files wait: the test proves nothing", renamed)
	}
	proven(t, a) // half of the scrub is in place, and the other half waits
	must(t, second(session(t, a, "s").EndScrub(t.Context())))
	if now := wholeText(t, a); strings.Contains(now, leaked) {
		t.Error("the leaked text still exists")
	}
	if left := inFolder(t, a, "s"); slices.ContainsFunc(left, waiting) {
		t.Errorf("the folder has the files %q", left)
	}
	proven(t, a)
}
