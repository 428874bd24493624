package recall_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// stored returns what Messages yields, up to the given number: a file for a message, and
// "changed FILE" or the error for an error.
func stored(t *testing.T, s *record.Session, most int) (got []string) {
	t.Helper()
	for m, err := range recall.Messages(t.Context(), s) {
		var changed *storage.ChangedError
		is := m.File
		switch {
		case errors.As(err, &changed):
			is = "changed " + changed.File
		case errors.Is(err, errDisk):
			is = "error"
		case err != nil:
			is = err.Error()
		}
		if got = append(got, is); len(got) == most {
			break
		}
	}
	return got
}

// A changed ledger, transcript or log does not hide the messages of the other files. The
// caller can stop at each error and at each message.
func TestMessagesBesideChangedFilesAreStillYielded(t *testing.T) {
	a := &altered{Archive: memory.New()}
	twoSteps(t, a)
	s, err := record.OpenSession(t.Context(), a, "s")
	word := redact.Lit(`{"role":"user","content":"word"}`)
	_, kept := s.Edits(t.Context(), []redact.Text{word, word, redact.Lit(`{"role":"user","content":"last"}`)})
	if err := errors.Join(err, kept, s.Journal(t.Context(), []redact.Text{word})); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		base    string
		changed []string
		still   []string
	}{
		{"ledger-001.json", []string{"changed ledger-001.json"}, []string{firstTranscript, secondTranscript, "edits.jsonl", "journal.jsonl"}},
		{firstTranscript, []string{"changed " + firstTranscript, "changed " + firstTranscript}, []string{"edits.jsonl", "journal.jsonl"}},
		{secondTranscript, []string{"changed " + secondTranscript}, []string{firstTranscript, "edits.jsonl", "journal.jsonl"}},
		{"edits.jsonl", []string{"changed edits.jsonl", "changed edits.jsonl"}, []string{firstTranscript, secondTranscript, "edits.jsonl", "journal.jsonl"}},
	} {
		a.base = c.base
		all := stored(t, s, 0)
		var changed []string
		for _, is := range all {
			if strings.HasPrefix(is, "changed ") {
				changed = append(changed, is)
			}
		}
		if !slices.Equal(changed, c.changed) {
			t.Errorf("%s: %q, want %q", c.base, changed, c.changed)
		}
		for _, file := range c.still {
			if !slices.Contains(all, file) {
				t.Errorf("%s: no message of %s", c.base, file)
			}
		}
		for k, is := range all {
			if k > 0 && is == all[k-1] {
				continue // enough for one message of each kind
			}
			if got := stored(t, s, k+1); len(got) != k+1 {
				t.Errorf("%s: %d messages and errors after a stop at %d", c.base, len(got), k+1)
			}
		}
	}
}

// An error of the archive ends the iteration and reaches the caller, whichever file it
// concerns: an export would lack messages otherwise, and nobody would know.
func TestMessagesOfAFailingArchiveEndWithItsError(t *testing.T) {
	a := &altered{Archive: memory.New()}
	twoSteps(t, a)
	s, err := record.OpenSession(t.Context(), a, "s")
	_, kept := s.Edits(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"word"}`)})
	if err := errors.Join(err, kept); err != nil {
		t.Fatal(err)
	}
	a.err = errDisk
	for _, a.base = range []string{"ledger-001.json", "manifest.jsonl", firstTranscript, secondTranscript, "edits.jsonl"} {
		got := stored(t, s, 0)
		if len(got) == 0 || got[len(got)-1] != "error" || slices.Index(got, "error") != len(got)-1 {
			t.Errorf("%s: %d messages, the last is %q", a.base, len(got), got[max(0, len(got)-1):])
		}
	}
}

// unlisted is an archive that cannot list its files.
type unlisted struct{ *memory.Archive }

func (unlisted) List(context.Context, storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, errDisk) }
}

// A session whose files cannot be listed, or with a ledger that this version cannot read, is
// not an empty session.
func TestMessagesOfAnUnreadableSessionAreAnError(t *testing.T) {
	s, err := record.OpenSession(t.Context(), unlisted{memory.New()}, "s")
	if err != nil {
		t.Fatal(err)
	}
	if got := stored(t, s, 0); !slices.Equal(got, []string{"error"}) {
		t.Errorf("no list: %q", got)
	}
	if s, err = record.OpenSession(t.Context(), memory.New(), "s"); err != nil {
		t.Fatal(err)
	}
	file, err := s.Transcript(t.Context(), 1, []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), 1, redact.Lit(`{"v":2,"step":"one"}`), file); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, s, 0); len(got) != 1 || !strings.Contains(got[0], "step") {
		t.Errorf("a ledger with a step %q: %q", "one", got)
	}
}

// A damaged turn index costs the turn numbers, and no message.
func TestMessagesWithoutATurnIndexHaveNoTurn(t *testing.T) {
	a := &altered{Archive: memory.New()}
	agent(t, a)(loop(100))
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	whole := stored(t, s, 0)
	a.base, a.err = "turns-001.idx", errDisk
	n := 0
	for m, err := range recall.Messages(t.Context(), s) {
		if n++; err != nil || m.Turn != 0 || m.Line != n {
			t.Errorf("message %d: turn %d, line %d, %v", n, m.Turn, m.Line, err)
		}
	}
	if n != len(whole) {
		t.Errorf("%d messages, want %d", n, len(whole))
	}
}

// Files of one step come together, in the order of the steps. A line without a message is
// skipped, and keeps its number.
func TestMessagesComeInTheOrderOfTheSteps(t *testing.T) {
	a := memory.New()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	line := redact.Lit(`{"role":"user","content":"word"}`)
	for step := 1; step <= 3; step++ {
		write := s.Transcript
		if step == 2 {
			write = s.Originals
		}
		if _, err := write(t.Context(), step, []redact.Text{redact.Lit(`{"note":1}`), line}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for m, err := range recall.Messages(t.Context(), s) {
		got = append(got, fmt.Sprint(m.File, " ", m.Line, " ", m.Message.Text(), err))
	}
	want := []string{firstTranscript + " 2 word<nil>", "originals-002.jsonl 2 word<nil>", "transcript-pre-compact-003.jsonl 2 word<nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
