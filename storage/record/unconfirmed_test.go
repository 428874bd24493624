package record_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// fallen is a full archive: after the ledger of a step is stored, it accepts no line of the
// session's manifest. If dead is set, it accepts no file at all.
type fallen struct {
	*memory.Archive
	dead, stored bool
	before       func() // is called before the ledger is stored
}

func (a *fallen) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if a.stored && a.dead {
		return errDead
	}
	ledger := k.Base() == "ledger-002.json"
	if ledger && a.before != nil {
		a.before()
	}
	err := a.Archive.Create(ctx, k, b)
	a.stored = a.stored || ledger
	return err
}

func (a *fallen) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.stored && (a.dead || k.Base() == "manifest.jsonl") {
		return errDead
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// half takes a session to a second step that no line of the manifest confirms.
func half(t *testing.T, a *fallen) *record.Session {
	t.Helper()
	s := session(t, a, "s")
	s.KeepHeads(record.NewHeads(a, nil))
	step(t, s, 1)
	must(t, second(s.Transcript(t.Context(), 2, lines("t2", 3))))
	must(t, second(s.Summary(t.Context(), 2, text(`{"summary":2}`))))
	_, _ = s.Commit(t.Context(), 2, text(`{"v":1,"step":2}`))
	if !a.stored {
		t.Fatal("there is no ledger of step 2")
	}
	return s
}

// verifyKept verifies a session against heads that were kept elsewhere.
func verifyKept(t *testing.T, a storage.Archive, kept []byte) record.Report {
	t.Helper()
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	must(t, book.Copy(t.Context(), bytes.NewReader(kept), "kept"))
	r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Heads: book})
	must(t, err)
	return r
}

func keptHeads(t *testing.T, a storage.Archive) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, record.WriteHeads(t.Context(), a, &b))
	return b.Bytes()
}

func removeStep2(t *testing.T, a *memory.Archive) {
	t.Helper()
	for _, name := range []string{"ledger-002.json", "transcript-pre-compact-002.jsonl", "summary-002.json"} {
		k, err := storage.ParseKey("s/" + name)
		must(t, err)
		must(t, a.Remove(t.Context(), k))
	}
}

// If a process died before it confirmed a step, the next head confirms the step, so
// that its loss is noticed.
func TestStepOfDeadProcessIsConfirmedByNextHead(t *testing.T) {
	for name, write := range map[string]func(*record.Session) error{
		"hold":    func(s *record.Session) error { return s.Hold(t.Context(), text("case")) },
		"release": func(s *record.Session) error { return s.Release(t.Context(), text("over")) },
		"final":   func(s *record.Session) error { return second(s.Final(t.Context(), lines("f", 2))) },
		"checkpoint": func(s *record.Session) error {
			if err := s.Events(t.Context(), []redact.Text{text(`{"e":1}`)}); err != nil {
				return err
			}
			return s.Checkpoint(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &fallen{Archive: memory.New(), dead: true}
			half(t, a)
			below := a.Archive
			s := session(t, below, "s")
			s.KeepHeads(record.NewHeads(below, nil))
			must(t, write(s))
			kept := keptHeads(t, below)
			if r := verifyKept(t, below, kept); !r.OK() || !r.TailProven || r.Steps != 2 {
				t.Fatalf("%d steps, %q, proven %v; want 2, no problems and true", r.Steps, r.Problems, r.TailProven)
			}
			removeStep2(t, below)
			if r := verifyKept(t, below, kept); r.OK() {
				t.Errorf("a step is missing, and verify returned ok, proven %v", r.TailProven)
			}
		})
	}
}

// A commit whose last line the archive refused has no head either, and the end of its
// session is not proven.
func TestUnconfirmedCommitHasNoHead(t *testing.T) {
	a := &fallen{Archive: memory.New()}
	s := half(t, a)
	kept := keptHeads(t, a)
	if r := verifyKept(t, a, kept); !r.OK() || r.TailProven || r.Steps != 2 {
		t.Errorf("%d steps, %q, proven %v; want 2, no problems and false", r.Steps, r.Problems, r.TailProven)
	}
	a.stored = false // the disk has free space again
	must(t, s.Checkpoint(t.Context()))
	if r := verifyKept(t, a, kept); !r.OK() || !r.TailProven {
		t.Errorf("after a checkpoint: %q, proven %v; want no problems and true", r.Problems, r.TailProven)
	}
}

// A hold between the announcement of a step and its ledger can't confirm the step. If its
// process dies then, nothing proves the end, with and without the step.
func TestHoldBeforeLedgerProvesNoEnd(t *testing.T) {
	a := &fallen{Archive: memory.New(), dead: true}
	a.before = func() {
		other := session(t, a.Archive, "s")
		other.KeepHeads(record.NewHeads(a.Archive, nil))
		must(t, other.Hold(t.Context(), text("case")))
	}
	half(t, a)
	kept := keptHeads(t, a)
	for range 2 {
		if r := verifyKept(t, a.Archive, kept); !r.OK() || r.TailProven {
			t.Errorf("%d steps, %q, proven %v; want no problems and false", r.Steps, r.Problems, r.TailProven)
		}
		removeStep2(t, a.Archive)
	}
}

// meeting is an archive that calls the function do once, after a ledger was opened and
// before it is read.
type meeting struct {
	*memory.Archive
	do func()
}

func (a *meeting) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	r, err := a.Archive.Open(ctx, k, off, n)
	if do := a.do; do != nil && k.Base() == "ledger-002.json" {
		a.do = nil
		do()
	}
	return r, err
}

// placing is an archive for a process that dies as soon as a scrub is complete.
type placing struct {
	*memory.Archive
	dead bool
}

func (a *placing) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.dead {
		return errDead
	}
	var line bytes.Buffer
	if _, err := b.WriteTo(&line); err != nil {
		return err
	}
	a.dead = bytes.Contains(line.Bytes(), []byte(`"op":"placed"`))
	return a.Archive.Append(ctx, k, seq, b)
}

// The ledger of a dead process is read and then scrubbed, by a process that dies as well
// before it confirms the step. The reader must not confirm the ledger that it has read.
// Two ledgers were announced, and afterwards nothing would show which one was committed.
func TestALedgerOfBeforeAScrubIsNotConfirmed(t *testing.T) {
	t.Parallel()
	a := &fallen{Archive: memory.New(), dead: true}
	below := a.Archive
	loser, winner := session(t, &failing{Archive: below, fail: func(op string, k storage.Key) error {
		if op == "create" && k.Base() == "ledger-002.json" {
			return errDisk
		}
		return nil
	}}, "s"), session(t, a, "s")
	step(t, winner, 1)
	for by, s := range []*record.Session{loser, winner} {
		must(t, second(s.Transcript(t.Context(), 2, lines("t2", 3))))
		_, _ = s.Commit(t.Context(), 2, text(`{"v":1,"step":2,"by":%d}`, by))
	}
	reader := &meeting{Archive: below}
	s := session(t, reader, "s")
	reader.do = func() {
		_, err := session(t, &placing{Archive: below}, "s").Scrub(t.Context(), record.ScrubOptions{Find: finds("step")})
		if !errors.Is(err, errDead) {
			t.Fatalf("the scrub ends with %v, want errDead", err)
		}
	}
	must(t, s.Release(t.Context(), text("over")))
	if reader.do != nil {
		t.Fatal("the ledger was not read")
	}
	if r := wantOK(t, below, "s"); r.Steps != 2 {
		t.Errorf("%d steps, want 2", r.Steps)
	}
	must(t, session(t, below, "s").Release(t.Context(), text("over")))
	if r := verify(t, below, "s", record.VerifyOptions{Head: session(t, below, "s").ManifestHead()}); !r.OK() || !r.TailProven {
		t.Errorf("the next process has not confirmed it: %v, proven %v", r.Problems, r.TailProven)
	}
}
