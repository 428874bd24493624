package record_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// wholeStep returns a step that is stored together with its transcript. Its index and its
// ledger name the transcript. The audit log waits for the transcript. The function came
// is called with the outcome.
func wholeStep(s *record.Session, n int, came func(record.Written, error)) record.Step {
	var c record.Content
	c.Line(text(`{"role":"user","content":"of step %d"}`, n))
	stored := make(chan error, 1)
	transcript, err := s.TranscriptDraft(&c, func(w record.Written, err error) {
		if came != nil {
			came(w, err)
		}
		stored <- err
	})
	if err != nil {
		panic(err)
	}
	index := s.IndexDraftOf(func(names []string) (*turnindex.Set, error) {
		set := &turnindex.Set{}
		set.Cover(n, n)
		return set, set.Add(turnindex.Record{Key: turnindex.Turn(uint32(n)), File: names[0], Len: c.Size() - 1})
	})
	return record.Step{
		Number: n, Drafts: []record.Draft{transcript, s.SummaryDraft(text(`{"summary":%d}`, n)), index},
		Ledger: func(drafts []record.Written) ([]redact.Text, error) {
			return []redact.Text{text(`{"v":1,"archive":%q,"index":%q}`, drafts[0].Key.Base(), drafts[2].Key.Base())}, nil
		},
		Beside: func(ctx context.Context, drafts []record.Written) error {
			select {
			case err := <-stored:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
			return s.Events(ctx, []redact.Text{text(`{"archive":%q}`, drafts[0].Key.Base())})
		},
	}
}

// namedByIndex returns the file name of the transcript in the index of a step.
func namedByIndex(t *testing.T, s *record.Session, index string) string {
	t.Helper()
	table, err := s.OpenIndex(t.Context(), index)
	must(t, err)
	for r, err := range table.All(t.Context()) {
		must(t, err)
		return r.File
	}
	return ""
}

// A transcript is announced together with its step. Index, ledger and audit log have
// the transcript's final name, even if another process took its first name.
func TestATranscriptIsStoredWithItsStep(t *testing.T) {
	t.Parallel()
	a := memory.New()
	s := session(t, a, "s")
	step, asked := wholeStep(s, 1, nil), 0
	ledger := step.Ledger
	step.Ledger = func(drafts []record.Written) ([]redact.Text, error) {
		if asked++; asked == 1 {
			must(t, second(session(t, a, "s").Transcript(t.Context(), 1, lines("somebody else", 1))))
		}
		return ledger(drafts)
	}
	done, err := s.CommitStep(t.Context(), step)
	must(t, err)
	const name = "transcript-pre-compact-001.2.jsonl"
	if got := textOf(t, s, "ledger-001.json"); asked != 2 || !strings.Contains(got, name) || done.Drafts[0].Key.Base() != name {
		t.Errorf("%d calls for a ledger, want 2; it is %s, and the transcript is stored as %v", asked, got, done.Drafts[0].Key)
	}
	if got := namedByIndex(t, s, "turns-001.idx"); got != name {
		t.Errorf("the index names %s, want %s", got, name)
	}
	if got := textOf(t, s, name); got != `{"role":"user","content":"of step 1"}`+"\n" {
		t.Errorf("the transcript is %s", got)
	}
	if got := content(t, s, "events.jsonl"); !strings.Contains(got, name) {
		t.Errorf("the audit log has %s, want text with %q", got, name)
	}
	if n := strings.Count(content(t, s, "manifest.jsonl"), `"op":"commit"`); n != 1 {
		t.Errorf("%d announcements of the ledger, want 1", n)
	}
	verified(t, a, "s")
}

// Whether the archive refuses the transcript or panics, the waiting audit log gets the
// error, and a later attempt stores the step as a whole.
func TestUnstorableTranscriptEndsItsStep(t *testing.T) {
	t.Parallel()
	for _, panics := range []bool{false, true} {
		a := &refusing{Archive: memory.New(), name: "transcript", panics: panics}
		s := session(t, a, "s")
		told := 0
		err := func() (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("%w: %v", errRefused, p)
				}
			}()
			_, err = s.CommitStep(t.Context(), wholeStep(s, 1, func(_ record.Written, err error) {
				if told++; err == nil {
					t.Error("it is reported as stored")
				}
			}))
			return err
		}()
		if !errors.Is(err, errRefused) || told != 1 {
			t.Errorf("panics %v: the step ends with %v, reported %d times; want errRefused and 1", panics, err, told)
		}
		if left := inFolder(t, a, "s"); slices.Contains(left, "ledger-001.json") || slices.Contains(left, "events.jsonl") {
			t.Errorf("panics %v: the archive has %q", panics, left)
		}
		a.name = ""
		must(t, second(s.CommitStep(t.Context(), wholeStep(s, 1, nil))))
		verified(t, a, "s")
	}
}

// The step has neither a stored transcript nor a draft of a transcript. A transcript
// that another attempt stored under its number does not count.
func TestAStepWithoutAnyTranscriptIsRefused(t *testing.T) {
	t.Parallel()
	s := session(t, memory.New(), "s")
	step := wholeStep(s, 1, nil)
	step.Drafts = step.Drafts[1:]
	if _, err := s.CommitStep(t.Context(), step); !errors.Is(err, record.ErrStep) {
		t.Errorf("it ends with %v, want ErrStep", err)
	}
	must(t, second(s.Transcript(t.Context(), 1, lines("of an attempt that was given up", 1))))
	must(t, second(s.CommitStep(t.Context(), wholeStep(s, 1, nil))))
	for line := range strings.Lines(content(t, s, "manifest.jsonl")) {
		if strings.Contains(line, `"op":"commit"`) && strings.Contains(line, `"transcript-pre-compact-001.jsonl"`) {
			t.Errorf("the step uses an abandoned file: %s", line)
		}
	}
}

// If two processes commit one number, one of them commits it. The other process keeps its
// stored files, and its next step can use them.
func TestOneOfConcurrentStepsWithTranscriptsIsCommitted(t *testing.T) {
	t.Parallel()
	a := memory.New()
	const steps, writers = 20, 4
	var all sync.WaitGroup
	var reused atomic.Int64
	for range writers {
		s := session(t, a, "s")
		all.Go(func() {
			var kept []record.Written
			for n := 1; n <= steps; {
				var own []record.Written
				step := wholeStep(s, n, func(w record.Written, err error) {
					if err == nil {
						own = []record.Written{w}
					}
				})
				if kept != nil {
					drafts := step.Drafts
					index, err := s.IndexDraft(&turnindex.Set{})
					if err != nil {
						t.Error(err)
						return
					}
					step.Files, step.Drafts = kept, []record.Draft{drafts[1], index}
					step.Ledger = func([]record.Written) ([]redact.Text, error) {
						return []redact.Text{text(`{"v":1,"archive":%q}`, kept[0].Key.Base())}, nil
					}
					step.Beside = nil
				}
				_, err := s.CommitStep(context.Background(), step)
				switch {
				case err == nil:
					if kept != nil {
						reused.Add(1)
					}
					n, kept = n+1, nil
				case errors.Is(err, storage.ErrExists):
					if kept == nil {
						kept = own
					}
					if n, err = s.Head(context.Background()); err != nil {
						t.Error(err)
						return
					}
					n++
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	s := session(t, a, "s")
	n := 0
	for l, err := range s.Ledgers(t.Context(), 1) {
		must(t, err)
		n++
		_, name, _ := strings.Cut(string(l.Data), `"archive":"`)
		name, _, _ = strings.Cut(name, `"`)
		if got := textOf(t, s, name); !strings.HasPrefix(got, `{"role":"user","content":"of step `) {
			t.Errorf("the transcript of step %d, %s, is %q", n, name, got)
		}
	}
	if n != steps {
		t.Errorf("%d steps, want %d", n, steps)
	}
	t.Logf("%d steps use a transcript of an attempt that lost", reused.Load())
	verified(t, a, "s")
}
