package recall_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

const firstTranscript, secondTranscript = "transcript-pre-compact-001.jsonl", "transcript-pre-compact-002.jsonl"

// twoSteps stores a session with two steps in the archive, whose second transcript refers to
// lines of the first.
func twoSteps(t *testing.T, a storage.Archive) {
	t.Helper()
	compacts, history := agent(t, a), loop(150)
	compacts(history[:102])
	compacts(history)
}

// A search that cannot read one transcript is an error. Without it the model would take the
// matches of the other transcripts for all matches.
func TestSearchOfAnUnreadableTranscriptIsAnError(t *testing.T) {
	a := &altered{Archive: memory.New()}
	twoSteps(t, a)
	a.err = errDisk
	for _, a.base = range []string{firstTranscript, secondTranscript} {
		found, err := recall.Search(t.Context(), a, "s", regexp.MustCompile(`file_\d+\.go: `), 0)
		if !errors.Is(err, errDisk) || len(found.Matches) > 0 {
			t.Errorf("%s: %d matches, %v", a.base, len(found.Matches), err)
		}
	}
}

// A search does not show altered lines, and counts their messages.
func TestSearchCountsAlteredMessages(t *testing.T) {
	a := &altered{Archive: memory.New()}
	twoSteps(t, a)
	pattern := regexp.MustCompile(`file_\d+\.go: `)
	whole, err := recall.Search(t.Context(), a, "s", pattern, 0)
	if err != nil || whole.Changed != 0 || whole.Lines < 100 {
		t.Fatalf("%d lines, %d changed, %v", whole.Lines, whole.Changed, err)
	}
	a.base = secondTranscript
	found, err := recall.Search(t.Context(), a, "s", pattern, 0)
	if err != nil || found.Changed == 0 || found.Lines+found.Changed != whole.Lines {
		t.Errorf("%d lines and %d changed messages of %d, %v", found.Lines, found.Changed, whole.Lines, err)
	}
	for _, m := range found.Matches {
		if strings.Contains(m.Text, "dorw") {
			t.Fatalf("an altered line is shown: %.60q", m.Text)
		}
	}
}

// slow is an archive with slow reads.
type slow struct {
	storage.Archive
	by time.Duration
}

func (a *slow) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	time.Sleep(a.by)
	return a.Archive.Open(ctx, k, off, n)
}

// A search that ends at its time limit is no error, and states that it did not search all.
func TestSearchStatesThatItWasCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &slow{Archive: memory.New()}
		m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Preflight(t.Context(), "s", loop(100)); errors.Join(err, m.Close(t.Context())) != nil {
			t.Fatal(err)
		}
		s, err := recall.Open(t.Context(), a, "s")
		if err != nil {
			t.Fatal(err)
		}
		a.by = 11 * time.Second
		if found, err := s.Search(t.Context(), regexp.MustCompile("file"), 0); err != nil || !found.Cut {
			t.Errorf("cut %v, %v", found.Cut, err)
		}
	})
}

// ending is an archive whose caller gives up while it reads.
type ending struct {
	storage.Archive
	base string
	stop context.CancelFunc
}

func (a *ending) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	r, err := a.Archive.Open(context.WithoutCancel(ctx), k, off, n)
	if a.stop != nil && k.Base() == a.base {
		a.stop()
	}
	return r, err
}

// A search that its caller ends is an error, not a list of the matches so far.
func TestSearchThatIsCancelledIsAnError(t *testing.T) {
	for preset, base := range map[string]string{"graduated": firstTranscript, "gateway": "edits.jsonl"} {
		c, err := compact.Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		a := &ending{Archive: memory.New(), base: base}
		c.Model, c.MaxContextTokens, c.Archive = "gpt-4", 40_000, a
		m, err := compact.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Preflight(t.Context(), "s", loop(150))
		if err := errors.Join(err, m.Close(context.WithoutCancel(t.Context()))); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		a.stop = cancel
		if found, err := recall.Search(ctx, a, "s", regexp.MustCompile("file_"), 0); !errors.Is(err, context.Canceled) || len(found.Matches) > 0 {
			t.Errorf("%s: %d matches, %v", preset, len(found.Matches), err)
		}
		cancel()
	}
}

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
