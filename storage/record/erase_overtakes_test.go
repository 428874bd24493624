package record_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// slowCreate is an archive that creates one file only after do has returned, like over
// a stalled connection.
type slowCreate struct {
	*memory.Archive
	name string
	do   func()
}

func (a *slowCreate) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.HasPrefix(k.Base(), a.name) && a.do != nil {
		do := a.do
		a.do = nil
		do()
	}
	return a.Archive.Create(ctx, k, b)
}

// If an erase overtakes the create of a file, its writer removes the file and gets
// ErrErased. The same holds for later lines of a log.
func TestFilesWrittenAfterAnEraseAreRemoved(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]int{"transcript-pre-compact-001": 1, "summary-001": 1, "ledger-001": 1, "transcript-pre-compact-002": 2, "ledger-002": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &slowCreate{Archive: memory.New(), name: name}
			s := session(t, a, "s")
			for n := 1; n < step; n++ {
				must(t, tryStep(t.Context(), s, n))
			}
			a.do = func() {
				_, err := session(t, a.Archive, "s").Erase(t.Context(), text("asked for"))
				must(t, err)
			}
			if err := tryStep(t.Context(), s, step); !errors.Is(err, record.ErrErased) {
				t.Errorf("the step ends with %v, and its session was erased, want ErrErased", err)
			}
			if a.do != nil {
				t.Fatal("nothing was erased")
			}
			if left := inFolder(t, a, "s"); len(left) > 0 {
				t.Errorf("the erased session still has %q", left)
			}
		})
	}
}

// A file that is written at the same time as the drafts fails after the erase, and
// before the overtaken create.
func TestStepFailingDuringAnEraseLeavesNoFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"summary-002", "turns-002"} {
		for what, refuse := range map[string]error{"an event of the erased session": nil, "something else": errRefused} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				a := &slowCreate{Archive: memory.New(), name: name}
				s := session(t, a, "s")
				must(t, second(drafted(t.Context(), s, 1)))
				transcript, err := s.Transcript(t.Context(), 2, lines("t", 2))
				must(t, err)
				step := draftedStep(s, 2, transcript)
				erased, failed := make(chan struct{}), make(chan struct{})
				a.do = func() {
					must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for"))))
					close(erased)
					<-failed
				}
				events := step.Beside
				step.Beside = func(ctx context.Context, drafts []record.Written) error {
					defer close(failed)
					<-erased
					if refuse != nil {
						return refuse
					}
					return events(ctx, drafts)
				}
				want := refuse
				if want == nil {
					want = record.ErrErased
				}
				if _, err := s.CommitStep(t.Context(), step); !errors.Is(err, want) {
					t.Errorf("the step ends with %v, want want", err)
				}
				if left := inFolder(t, a, "s"); len(left) > 0 {
					t.Errorf("the erased session still has %q", left)
				}
			})
		}
	}
}

// The event itself removes the late files, because a caller that gets the error stops.
func TestAnEventOfAnErasedSessionRemovesLateFiles(t *testing.T) {
	t.Parallel()
	a := &slowCreate{Archive: memory.New(), name: "transcript-pre-compact-002"}
	s := session(t, a, "s")
	must(t, second(drafted(t.Context(), s, 1)))
	a.do = func() { must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for")))) }
	must(t, second(s.Transcript(t.Context(), 2, lines("t", 2))))
	if err := s.Events(t.Context(), lines("e", 1)); !errors.Is(err, record.ErrErased) {
		t.Errorf("the event ends with %v, want ErrErased", err)
	}
	if left := inFolder(t, a, "s"); len(left) > 0 {
		t.Errorf("the erased session still has %q", left)
	}
}

// TestAManifestThatVanishedCostsNoFile: without a record of an erase nothing is removed.
func TestAManifestThatVanishedCostsNoFile(t *testing.T) {
	t.Parallel()
	a := &slowCreate{Archive: memory.New(), name: "ledger-001"}
	a.do = func() { must(t, a.Remove(t.Context(), mustKey(t, "s/manifest.jsonl"))) }
	if err := tryStep(t.Context(), session(t, a, "s"), 1); err == nil {
		t.Error("the step is committed without a manifest")
	}
	if left := inFolder(t, a, "s"); len(left) < 3 {
		t.Errorf("only %q are left", left)
	}
}

// An erase that was refused is not an erase. A held session loses no file, even if its
// manifest vanishes after that.
func TestARefusedEraseCostsNoFile(t *testing.T) {
	t.Parallel()
	a := &slowCreate{Archive: memory.New(), name: "ledger-002"}
	s := session(t, a, "s")
	must(t, tryStep(t.Context(), s, 1))
	a.do = func() {
		other := session(t, a, "s")
		must(t, other.Hold(t.Context(), text("case 7")))
		if _, err := other.Erase(t.Context(), text("asked for")); !errors.Is(err, record.ErrHeld) {
			t.Errorf("the erase ends with %v, want ErrHeld", err)
		}
		must(t, a.Remove(t.Context(), mustKey(t, "s/manifest.jsonl")))
	}
	if err := tryStep(t.Context(), s, 2); err == nil {
		t.Error("the step is committed without a manifest")
	}
	if left := inFolder(t, a, "s"); len(left) < 7 {
		t.Errorf("only %q are left", left)
	}
}

func inFolder(t *testing.T, a storage.Archive, dir string) (names []string) {
	t.Helper()
	for info, err := range a.List(t.Context(), mustKey(t, dir)) {
		must(t, err)
		names = append(names, info.Key.Base())
	}
	return names
}

// TestAHoldBeginsNoErasedSession tries to hold a session that was opened before its erase, and
// one that was opened after it.
func TestAHoldBeginsNoErasedSession(t *testing.T) {
	t.Parallel()
	a := memory.New()
	early := session(t, a, "s")
	step(t, session(t, a, "s"), 1)
	must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
	for _, s := range []*record.Session{early, session(t, a, "s")} {
		if err := s.Hold(t.Context(), text("a case")); !errors.Is(err, record.ErrErased) {
			t.Errorf("the hold ends with %v, want ErrErased", err)
		}
		if err := s.Release(t.Context(), text("closed")); !errors.Is(err, record.ErrErased) {
			t.Errorf("the release ends with %v, want ErrErased", err)
		}
	}
	if left := inFolder(t, a, "s"); len(left) > 0 {
		t.Errorf("the erased session still has %q", left)
	}
	must(t, session(t, a, "not stored yet").Hold(t.Context(), text("a case")))
	step(t, session(t, a, "s"), 1) // another session of the name, which can be held
	must(t, session(t, a, "s").Hold(t.Context(), text("a case")))
}

// The session was new when it was opened. Then another process stored the session, and
// a third process erased it.
func TestNoSessionBeginsThatWasErasedSinceItWasOpened(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		early := session(t, a, "s")
		time.Sleep(time.Minute)
		step(t, session(t, a, "s"), 1)
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		time.Sleep(time.Minute)
		if err := second(early.Transcript(t.Context(), 1, lines("t", 2))); !errors.Is(err, record.ErrErased) {
			t.Errorf("the transcript ends with %v, want ErrErased", err)
		}
		if err := second(early.CommitStep(t.Context(), wholeStep(early, 1, nil))); !errors.Is(err, record.ErrErased) {
			t.Errorf("the step ends with %v, want ErrErased", err)
		}
		if left := inFolder(t, a, "s"); len(left) > 0 {
			t.Errorf("the erased session still has %q", left)
		}
		step(t, session(t, a, "s"), 1) // a session that is opened now knows of the erase
	})
}

// A late writer begins the log of an erased session again. It takes that log back, unless the
// next session has written to it: its lines stay.
func TestALateWriterRemovesNoLinesOfTheNextSession(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := memory.New()
			late := session(t, a, "s")
			time.Sleep(time.Second)
			step(t, session(t, a, "s"), 1)
			must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
			must(t, late.Events(t.Context(), lines("late", 1)))
			next := session(t, a, "s")
			if shared {
				must(t, next.Events(t.Context(), lines("next", 1)))
			}
			time.Sleep(time.Minute)
			if err := second(late.Transcript(t.Context(), 1, lines("t", 2))); !errors.Is(err, record.ErrErased) {
				t.Errorf("the transcript ends with %v, want ErrErased", err)
			}
			count := 0
			for _, err := range next.EventLines(t.Context()) {
				must(t, err)
				count++
			}
			if want := map[bool]int{false: 0, true: 2}[shared]; count != want {
				t.Errorf("the next session writes %v: %d events are left, want %d", shared, count, want)
			}
		})
	}
}

// A checkpoint without a new line makes no request. So a file that was stored before it
// may still be created after an erase.
func TestEmptyCheckpointForgetsNoFile(t *testing.T) {
	t.Parallel()
	a := &slowCreate{Archive: memory.New(), name: "transcript"}
	s := session(t, a, "s")
	a.do = func() { must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for")))) }
	must(t, second(s.Transcript(t.Context(), 1, lines("t", 2))))
	must(t, s.Checkpoint(t.Context()))
	if _, err := s.Summary(t.Context(), 1, text(`{}`)); !errors.Is(err, record.ErrErased) {
		t.Errorf("the summary ends with %v, and its session was erased, want ErrErased", err)
	}
	if left := inFolder(t, a, "s"); len(left) > 0 {
		t.Errorf("the erased session still has %q", left)
	}
}

// The tombstone of an earlier session of the same name does not mean that this one was
// erased.
func TestAnEraseBeforeTheSessionBeganCostsNoFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		step(t, session(t, a, "s"), 1)
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		time.Sleep(time.Second)
		s := session(t, a, "s")
		step(t, s, 1)
		must(t, second(s.Transcript(t.Context(), 2, lines("t", 2))))
		must(t, a.Remove(t.Context(), mustKey(t, "s/manifest.jsonl")))
		before := inFolder(t, a, "s")
		if err := second(s.Summary(t.Context(), 2, text(`{}`))); err == nil {
			t.Error("the summary is stored without a manifest")
		}
		if left := inFolder(t, a, "s"); !slices.Equal(left, before) {
			t.Errorf("of %q only %q are left", before, left)
		}
	})
}
