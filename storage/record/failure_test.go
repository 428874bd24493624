package record_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

var errDisk = errors.New("disk on fire")

// failing is an archive with one failing call.
type failing struct {
	storage.Archive
	mu   sync.Mutex
	fail func(op string, k storage.Key) error
}

func (a *failing) check(op string, k storage.Key) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail == nil {
		return nil
	}
	return a.fail(op, k)
}

func (a *failing) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := a.check("create", k); err != nil {
		return err
	}
	return a.Archive.Create(ctx, k, b)
}

func (a *failing) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := a.check("append", k); err != nil {
		return err
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func TestSessionContinuesAfterAFailure(t *testing.T) {
	for _, at := range []string{"append manifest.jsonl", "create transcript-pre-compact-001.jsonl", "create summary-001.json", "append events.jsonl", "create ledger-001.json"} {
		t.Run(at, func(t *testing.T) {
			a := &failing{Archive: memory.New()}
			a.fail = func(op string, k storage.Key) error {
				if op+" "+k.Base() == at {
					return errDisk
				}
				return nil
			}
			s := session(t, a, "s")
			err := tryStep(t.Context(), s, 1)
			if !errors.Is(err, errDisk) {
				t.Fatalf("got %v, want the error of the disk", err)
			}
			if n, err := s.Head(t.Context()); n != 0 || err != nil {
				t.Errorf("Head is %d, %v after a failed step; want 0 and no error", n, err)
			}
			a.fail = nil
			must(t, tryStep(t.Context(), s, 1))
			must(t, tryStep(t.Context(), session(t, a, "s"), 2))
			wantOK(t, a, "s")
		})
	}
}

func tryStep(ctx context.Context, s *record.Session, n int) error {
	transcript, err := s.Transcript(ctx, n, lines("t", 2))
	if err != nil {
		return err
	}
	_, err = s.CommitStep(ctx, record.Step{
		Number: n, Files: []record.Written{transcript}, Drafts: []record.Draft{s.SummaryDraft(text(`{}`))},
		Ledger: func([]record.Written) ([]redact.Text, error) { return []redact.Text{text(`{}`)}, nil },
		Beside: func(ctx context.Context, _ []record.Written) error { return s.Events(ctx, lines("e", 2)) },
	})
	return err
}

func TestStepIsCommittedByItsLedgerAlone(t *testing.T) {
	a := &failing{Archive: memory.New()}
	s := session(t, a, "s")
	must(t, second(s.Transcript(t.Context(), 1, lines("t", 1))))
	created := false
	a.fail = func(op string, k storage.Key) error { // the line after the ledger fails
		if created {
			return errDisk
		}
		created = op == "create"
		return nil
	}
	must(t, second(s.Commit(t.Context(), 1, text(`{}`))))
	a.fail = nil
	wantOK(t, a, "s")
	before := s.ManifestHead()
	step(t, session(t, a, "s"), 2)
	wantOK(t, a, "s")
	if got := content(t, s, "manifest.jsonl"); strings.Count(got, `"op":"done"`) != 2 || before == session(t, a, "s").ManifestHead() {
		t.Errorf("the next commit does not say that step 1 is committed:\n%s", got)
	}
}

func TestCommitIsConfirmedAfterItsCallerLeft(t *testing.T) {
	a := &failing{Archive: memory.New()}
	ctx, cancel := context.WithCancel(t.Context())
	s := session(t, a, "s")
	must(t, second(s.Transcript(ctx, 1, lines("t", 1))))
	committed := false
	a.fail = func(op string, _ storage.Key) error {
		if op == "append" && committed {
			cancel() // after the ledger, before the line that confirms it
		}
		committed = committed || op == "create"
		return nil
	}
	must(t, second(s.Commit(ctx, 1, text(`{}`))))
	if got := content(t, s, "manifest.jsonl"); ctx.Err() == nil || strings.Count(got, `"op":"done"`) != 1 {
		t.Errorf("the manifest does not say that step 1 is committed:\n%s", got)
	}
}

// TestWithdrawnLineIsForgotten: another process writes a line, cannot make it
// durable and withdraws it, after this process has read it.
func TestWithdrawnLineIsForgotten(t *testing.T) {
	below := memory.New()
	a := &failing{Archive: below}
	s := session(t, a, "s")
	must(t, s.Events(t.Context(), []redact.Text{text(`{"mine":1}`)}))
	k := mustKey(t, "s/events.jsonl")
	safe := content(t, s, "events.jsonl")
	calls := 0
	a.fail = func(op string, _ storage.Key) error {
		if op != "append" {
			return nil
		}
		switch calls++; calls {
		case 1: // their line is there
			must(t, session(t, below, "s").Events(t.Context(), []redact.Text{text(`{"theirs":1}`)}))
		case 2: // and is removed
			must(t, below.Remove(t.Context(), k))
			must(t, below.Create(t.Context(), k, storage.Redacted(text("%s", safe))))
		}
		return nil
	}
	must(t, s.Events(t.Context(), []redact.Text{text(`{"mine":2}`)}))
	wantOK(t, below, "s")
	if got := content(t, s, "events.jsonl"); calls != 3 || strings.Contains(got, "theirs") || !strings.Contains(got, `"mine":2`) {
		t.Errorf("after %d attempts the log is\n%s", calls, got)
	}
}
