package record_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// contents returns the files in the folder of a session.
func contents(t *testing.T, a storage.Archive, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range inFolder(t, a, dir) {
		out[name] = content(t, session(t, a, dir), name)
	}
	return out
}

// startOver begins a session again after its erase, so that the new manifest and the
// old one end at different offsets. In practice only chance ensures this.
func startOver(t *testing.T, begin, again func(*testing.T, storage.Archive) *record.Session) (a storage.Archive, old *record.Session) {
	t.Helper()
	for {
		a = memory.New()
		old = begin(t, a)
		was := len(contents(t, a, "s")["manifest.jsonl"])
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		again(t, a)
		if len(contents(t, a, "s")["manifest.jsonl"]) != was {
			return a, old
		}
	}
}

// life returns a session with a given number of steps, with unique lines.
func life(t *testing.T, a storage.Archive, name string, steps int) *record.Session {
	t.Helper()
	s := session(t, a, "s")
	must(t, s.Journal(t.Context(), lines(name, 2)))
	for n := 1; n <= steps; n++ {
		must(t, second(s.Transcript(t.Context(), n, lines(fmt.Sprint(name, n), 3))))
		must(t, s.Events(t.Context(), lines(fmt.Sprint(name, n), 2)))
		must(t, second(s.Edits(t.Context(), lines(fmt.Sprint(name, n), 1))))
		must(t, second(s.Commit(t.Context(), n, text(`{"v":1,"step":%d}`, n))))
	}
	return s
}

// intoNoNewSession writes to an erased session after another session has begun under
// its name.
func intoNoNewSession(t *testing.T, steps, again int, write func(context.Context, *record.Session) error) {
	a, old := startOver(t,
		func(t *testing.T, a storage.Archive) *record.Session { return life(t, a, "the old one", steps) },
		func(t *testing.T, a storage.Archive) *record.Session { return life(t, a, "new", again) })
	before := contents(t, a, "s")
	for range 3 {
		if err := write(t.Context(), old); !errors.Is(err, record.ErrErased) {
			t.Errorf("%d steps, then %d: it ends with %v, want ErrErased", steps, again, err)
		}
		_ = old.Checkpoint(t.Context())
	}
	if now := contents(t, a, "s"); !maps.Equal(now, before) {
		t.Fatalf("%d steps, then %d: the new session had\n%v\nand has\n%v", steps, again, before, now)
	}
	if r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{}); err != nil || len(r.Problems) > 0 {
		t.Errorf("%d steps, then %d: %v %v", steps, again, r.Problems, err)
	}
}

// No data of an erased session gets into a new session of the same name, and the new
// session loses nothing.
func TestErasedDataEntersNoNewSession(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(ctx context.Context, s *record.Session) error{
		"summary": func(ctx context.Context, s *record.Session) error {
			return second(s.Summary(ctx, 9, text(`{"of":"old"}`)))
		},
		"events":  func(ctx context.Context, s *record.Session) error { return s.Events(ctx, lines("late", 2)) },
		"journal": func(ctx context.Context, s *record.Session) error { return s.Journal(ctx, lines("late", 2)) },
		"edits":   func(ctx context.Context, s *record.Session) error { return second(s.Edits(ctx, lines("late", 2))) },
		"step":    func(ctx context.Context, s *record.Session) error { return tryStep(ctx, s, 4) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for steps := 1; steps <= 3; steps++ {
				for again := range 8 {
					intoNoNewSession(t, steps, again, write)
				}
			}
		})
	}
}

// A writer that only created a file does not own the file of the same name in the new
// session, even if both files have the same content.
func TestANewSessionKeepsFilesOfTheSameName(t *testing.T) {
	t.Parallel()
	a := memory.New()
	old := session(t, a, "s")
	must(t, second(old.Transcript(t.Context(), 1, lines("same", 2))))
	must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
	must(t, second(session(t, a, "s").Transcript(t.Context(), 1, lines("same", 2))))
	must(t, session(t, a, "s").Checkpoint(t.Context()))
	before := contents(t, a, "s")
	for range 2 {
		_ = second(old.Summary(t.Context(), 1, text(`{}`)))
	}
	if now := contents(t, a, "s"); now["transcript-pre-compact-001.jsonl"] != before["transcript-pre-compact-001.jsonl"] {
		t.Errorf("the new session has %v", now)
	}
}

// If a ledger is created after an erase, and the answer is lost, the next write removes
// it. It does not remove a ledger of another process.
func TestUnconfirmedLedgerIsRemoved(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		a := &unheard{Archive: memory.New(), late: late}
		s := session(t, a, "s")
		a.do = func() { must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for")))) }
		if err := tryStep(t.Context(), s, 1); !errors.Is(err, errDisk) {
			t.Fatalf("late %t: the step ends with %v, want errDisk", late, err)
		}
		if left := inFolder(t, a, "s"); len(left) > 0 {
			t.Errorf("late %t: after the step %q are in the erased session", late, left)
		}
		if a.appear == nil {
			t.Fatalf("late %t: no ledger was stored: the test proves nothing", late)
		}
		must(t, a.appear())
		if err := second(s.Summary(t.Context(), 2, text(`{}`))); !errors.Is(err, record.ErrErased) {
			t.Errorf("late %t: the summary ends with %v, want ErrErased", late, err)
		}
		if left := inFolder(t, a, "s"); len(left) > 0 {
			t.Errorf("late %t: the erased session still has %q", late, left)
		}
	}
}

// unheard is an archive that loses the answer to the create of a ledger. If late is set,
// the ledger is stored when appear is called.
type unheard struct {
	*memory.Archive
	late   bool
	do     func()
	appear func() error
}

func (a *unheard) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if do := a.do; do != nil && strings.HasPrefix(k.Base(), "ledger") {
		a.do = nil
		do()
		a.appear = func() error { return a.Archive.Create(context.WithoutCancel(ctx), k, b) }
		if a.late {
			return errDisk
		}
		return errors.Join(a.appear(), errDisk)
	}
	return a.Archive.Create(ctx, k, b)
}

// A log does not begin again in a session that was erased since it was opened, even if
// the session was new then and another process stored it.
func TestNoLogBeginsInASessionThatWasErased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		early := session(t, a, "s")
		time.Sleep(time.Minute)
		life(t, a, "other", 2)
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		time.Sleep(time.Minute)
		for range 2 {
			if err := early.Events(t.Context(), lines("late", 2)); !errors.Is(err, record.ErrErased) {
				t.Errorf("the lines end with %v, want ErrErased", err)
			}
		}
		if left := inFolder(t, a, "s"); len(left) > 0 {
			t.Errorf("the erased session still has %q", left)
		}
		must(t, session(t, a, "s").Events(t.Context(), lines("new", 1))) // a session that is opened now may append
	})
}

// Logs of the new session with the length of the old ones stay. A new session also
// keeps a ledger with the same name as a ledger whose create got no answer.
func TestANewSessionKeepsLogsOfTheSameLength(t *testing.T) {
	t.Parallel()
	lost := &unheard{}
	a, old := startOver(t, func(t *testing.T, a storage.Archive) *record.Session {
		lost.Archive, lost.do = a.(*memory.Archive), func() {}
		s := life(t, lost, "old", 0)
		if err := tryStep(t.Context(), s, 1); !errors.Is(err, errDisk) {
			t.Fatalf("the step ends with %v, want errDisk", err)
		}
		return s
	}, func(t *testing.T, a storage.Archive) *record.Session {
		s := life(t, a, "new", 1)
		return s
	})
	before := contents(t, a, "s")
	if err := second(old.Summary(t.Context(), 2, text(`{}`))); !errors.Is(err, record.ErrErased) {
		t.Errorf("the summary ends with %v, want ErrErased", err)
	}
	if now := contents(t, a, "s"); !maps.Equal(now, before) {
		t.Errorf("the new session had\n%v\nand has\n%v", before, now)
	}
}

// A writer that knows only the end of a log that it did not begin appends nothing to
// the log of the new session, whether that log is longer or shorter.
func TestLogReadFromItsEndEntersNoNewSession(t *testing.T) {
	t.Parallel()
	for _, again := range []int{1, 5} {
		a, old := startOver(t, func(t *testing.T, a storage.Archive) *record.Session {
			life(t, a, "the old one", 3)
			s := session(t, a, "s")
			must(t, s.Events(t.Context(), lines("again", 1)))
			return s
		}, func(t *testing.T, a storage.Archive) *record.Session { return life(t, a, "new", again) })
		before := contents(t, a, "s")
		if err := old.Events(t.Context(), lines("late", 1)); !errors.Is(err, record.ErrErased) {
			t.Errorf("%d steps: the lines end with %v, want ErrErased", again, err)
		}
		if now := contents(t, a, "s"); !maps.Equal(now, before) {
			t.Errorf("%d steps: the new session had\n%v\nand has\n%v", again, before, now)
		}
	}
}

// Manifests of two sessions of one name differ from their first lines on, even if both
// record the same at the same moment.
func TestTwoLivesDifferFromTheFirstLineOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen, sizes := map[string]bool{}, map[int]bool{}
		const lives = 20
		for range lives {
			a := memory.New()
			s := session(t, a, "s")
			must(t, second(s.Transcript(t.Context(), 1, lines("same", 1))))
			seen[s.ManifestHead()] = true
			sizes[len(contents(t, a, "s")["manifest.jsonl"])] = true
		}
		if len(seen) != lives || len(sizes) < 5 {
			t.Errorf("%d sessions have %d first lines, of %d sizes", lives, len(seen), len(sizes))
		}
	})
}
