package recall_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
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
