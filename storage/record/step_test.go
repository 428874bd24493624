package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// drafted commits a step with a summary, an index and a line of the audit log. The
// summary and the index are stored with the ledger, which names them.
func drafted(ctx context.Context, s *record.Session, n int) (record.Committed, error) {
	transcript, err := s.Transcript(ctx, n, []redact.Text{text(`{"role":"user","content":"hello"}`)})
	if err != nil {
		return record.Committed{}, err
	}
	return s.CommitStep(ctx, draftedStep(s, n, transcript))
}

func draftedStep(s *record.Session, n int, files ...record.Written) record.Step {
	index, err := s.IndexDraft(&turnindex.Set{})
	if err != nil {
		panic(err)
	}
	return record.Step{
		Number: n, Files: files, Drafts: []record.Draft{s.SummaryDraft(text(`{"summary":%d}`, n)), index},
		Ledger: func(drafts []record.Written) ([]redact.Text, error) {
			return []redact.Text{text(`{"v":1,"summary":%q,"index":%q}`, drafts[0].Key.Base(), drafts[1].Key.Base())}, nil
		},
		Beside: func(ctx context.Context, drafts []record.Written) error {
			return s.Events(ctx, []redact.Text{text(`{"summary":%q}`, drafts[0].Key.Base())})
		},
	}
}

// The ledger has the right names even if the names of the drafts are taken: by a
// leftover file, or by a process that announces them at the same moment.
func TestALedgerNamesTheFilesStoredWithIt(t *testing.T) {
	t.Parallel()
	a := memory.New()
	s := session(t, a, "s")
	must(t, second(s.Summary(t.Context(), 1, text(`{"of":"a step that never was"}`))))
	transcript, err := s.Transcript(t.Context(), 1, lines("t", 2))
	must(t, err)
	step, asked := draftedStep(s, 1, transcript), 0
	ledger := step.Ledger
	step.Ledger = func(drafts []record.Written) ([]redact.Text, error) {
		if asked++; asked == 1 {
			must(t, second(session(t, a, "s").Summary(t.Context(), 1, text(`{"of":"somebody else"}`))))
		}
		return ledger(drafts)
	}
	done, err := s.CommitStep(t.Context(), step)
	must(t, err)
	if asked != 2 {
		t.Errorf("the ledger was asked for %d times, want 2", asked)
	}
	if got := textOf(t, s, "ledger-001.json"); got != `{"v":1,"summary":"summary-001.3.json","index":"turns-001.idx"}` {
		t.Errorf("the ledger is %s, want %s", got, `{"v":1,"summary":"summary-001.3.json","index":"turns-001.idx"}`)
	}
	if got := textOf(t, s, "summary-001.3.json"); got != `{"summary":1}` || done.Drafts[0].Key.Base() != "summary-001.3.json" {
		t.Errorf("the summary is %s, stored as %v", got, done.Drafts[0].Key)
	}
	verified(t, a, "s")
}

// If two processes commit one number, exactly one of them commits it, wherever the other
// one is in its commit. All files that a ledger names are complete.
func TestOneOfConcurrentStepsWithDraftsIsCommitted(t *testing.T) {
	t.Parallel()
	a := memory.New()
	const steps, writers = 20, 4
	var all sync.WaitGroup
	for range writers {
		s := session(t, a, "s")
		all.Go(func() {
			for n := 1; n <= steps; {
				_, err := drafted(context.Background(), s, n)
				switch {
				case err == nil:
					n++
				case errors.Is(err, storage.ErrExists):
					head, err := s.Head(context.Background())
					if err != nil || head < n {
						t.Errorf("step %d exists, and the head is %d (%v)", n, head, err)
						return
					}
					n = head + 1
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	s, n := session(t, a, "s"), 0
	for l, err := range s.Ledgers(t.Context(), 1) {
		must(t, err)
		n++
		_, name, _ := strings.Cut(string(l.Data), `"summary":"`)
		name, _, _ = strings.Cut(name, `"`)
		if got := textOf(t, s, name); got != fmt.Sprintf(`{"summary":%d}`, n) {
			t.Errorf("the summary of step %d, %s, is %s", n, name, got)
		}
	}
	if n != steps {
		t.Errorf("%d steps, want %d", n, steps)
	}
	verified(t, a, "s")
}

// refusing refuses files whose name has a prefix, or panics.
type refusing struct {
	storage.Archive
	name   string
	panics bool
}

var errRefused = errors.New("refused")

func (a *refusing) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	switch {
	case a.name == "" || !strings.HasPrefix(k.Base(), a.name):
		return a.Archive.Create(ctx, k, b)
	case a.panics:
		panic("broken")
	}
	return errRefused
}

// Every file that a ledger depends on is stored before the ledger.
func TestNoLedgerWithoutItsFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"summary", "turns", "events"} {
		a := &refusing{Archive: memory.New(), name: name}
		s := session(t, a, "s")
		transcript, err := s.Transcript(t.Context(), 1, lines("t", 2))
		must(t, err)
		step := draftedStep(s, 1, transcript)
		if name == "events" {
			step.Beside = func(context.Context, []record.Written) error { return errRefused }
		}
		if _, err := s.CommitStep(t.Context(), step); !errors.Is(err, errRefused) {
			t.Errorf("without its %s the step ends with %v, want errRefused", name, err)
		}
		if slices.Contains(inFolder(t, a, "s"), "ledger-001.json") {
			t.Errorf("without its %s the step has a ledger", name)
		}
		a.name = ""
		done, err := s.CommitStep(t.Context(), draftedStep(s, 1, transcript))
		if err != nil || done.Drafts[0].Key.Base() != "summary-001.2.json" {
			t.Errorf("the step is stored again with %v (%v)", done.Drafts, err)
		}
		verified(t, a, "s")
	}
}

// TestPanicWhileADraftIsStoredReachesTheCaller: the caller can recover from the panic.
func TestPanicWhileADraftIsStoredReachesTheCaller(t *testing.T) {
	t.Parallel()
	a := &refusing{Archive: memory.New(), name: "turns", panics: true}
	defer func() {
		if p := recover(); p != "broken" {
			t.Errorf("the panic is %v, want %v", p, "broken")
		}
	}()
	_, err := drafted(t.Context(), session(t, a, "s"), 1)
	t.Errorf("the step ends with %v", err)
}

// The caller gets the error of the function that makes the ledger.
func TestRefusedLedgerIsNotAnnounced(t *testing.T) {
	t.Parallel()
	s := session(t, memory.New(), "s")
	transcript, err := s.Transcript(t.Context(), 1, lines("t", 2))
	must(t, err)
	step := draftedStep(s, 1, transcript)
	step.Ledger = func([]record.Written) ([]redact.Text, error) { return nil, errRefused }
	if _, err := s.CommitStep(t.Context(), step); !errors.Is(err, errRefused) {
		t.Errorf("it ends with %v, want errRefused", err)
	}
	if m := textOf(t, s, "manifest.jsonl"); strings.Contains(m, "ledger") || strings.Contains(m, "summary") {
		t.Errorf("the manifest is %s, want text without %q and text without %q", m, "ledger", "summary")
	}
}

// TestALostRaceForTheSameLedgerLeavesNothingMissing: the loser has announced the same
// bytes with its own files, but never stored those files.
func TestALostRaceForTheSameLedgerLeavesNothingMissing(t *testing.T) {
	t.Parallel()
	same := func(s *record.Session) record.Step {
		transcript, err := s.Transcript(t.Context(), 1, lines("t", 1))
		must(t, err)
		step := draftedStep(s, 1, transcript)
		step.Ledger = func([]record.Written) ([]redact.Text, error) { return []redact.Text{text(`{"v":1}`)}, nil }
		return step
	}
	one, two := &failing{Archive: memory.New()}, &failing{}
	two.Archive = one.Archive
	winner, loser := session(t, one, "s"), session(t, two, "s")
	won, lost := same(winner), same(loser)
	one.fail = func(op string, k storage.Key) error {
		if op == "create" && k.Base() == "ledger-001.json" {
			one.fail = nil
			two.fail = func(op string, _ storage.Key) error {
				if op == "create" {
					return errRefused
				}
				return nil
			}
			if _, err := loser.CommitStep(t.Context(), lost); !errors.Is(err, errRefused) {
				t.Errorf("the loser ends with %v, want errRefused", err)
			}
		}
		return nil
	}
	must(t, second(winner.CommitStep(t.Context(), won)))
	if n := strings.Count(content(t, winner, "manifest.jsonl"), `"op":"commit"`); n != 2 {
		t.Fatalf("the ledger was announced %d times: the test proves nothing", n)
	}
	wantOK(t, one.Archive, "s")
}

// A scrub does not wait for files that are stored later than a minute after their
// announcement. A ledger that names such files must not be created.
func TestDraftsThatAreLateHaveNoLedger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &slowCreate{Archive: memory.New(), name: "turns-003"}
		s := leaky(t, a)
		a.do = func() {
			time.Sleep(2 * time.Minute)
			must(t, second(session(t, a.Archive, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})))
		}
		if _, err := drafted(t.Context(), s, 3); !errors.Is(err, record.ErrScrubbed) || a.do != nil {
			t.Errorf("the commit ends with %v, want ErrScrubbed", err)
		}
		if slices.Contains(inFolder(t, a, "s"), "ledger-003.json") {
			t.Error("the step has a ledger")
		}
	})
}

// Each file of a step that arrives late is removed after an erase.
func TestLateFilesOfAStepAreRemovedAfterAnErase(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"transcript-pre-compact-002", "summary-002", "turns-002", "ledger-002"} {
		a := &slowCreate{Archive: memory.New(), name: name}
		s := session(t, a, "s")
		must(t, second(drafted(t.Context(), s, 1)))
		a.do = func() { must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for")))) }
		if _, err := drafted(t.Context(), s, 2); !errors.Is(err, record.ErrErased) || a.do != nil {
			t.Errorf("%s: the step ends with %v, want ErrErased", name, err)
		}
		if left := inFolder(t, a, "s"); len(left) > 0 {
			t.Errorf("%s: the erased session still has %q", name, left)
		}
	}
}

func textOf(t *testing.T, s *record.Session, name string) string {
	t.Helper()
	r, err := s.Open(t.Context(), name, 0, -1)
	must(t, err)
	defer r.Close()
	b, err := io.ReadAll(r)
	must(t, err)
	return string(b)
}

func verified(t *testing.T, a storage.Archive, id string) {
	t.Helper()
	report, err := record.Verify(t.Context(), a, id, record.VerifyOptions{})
	must(t, err)
	if len(report.Problems) > 0 {
		t.Errorf("verify returned %v", report.Problems)
	}
}
