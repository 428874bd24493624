package record

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// If a log was read once, a chain distinguishes it from a log of the same name that a
// later session began, and from a removed log.
func TestLogIsRereadUnlessItBelongsToAnotherLife(t *testing.T) {
	k, err := storage.ParseKey("s/manifest.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	add := func(c *chain, body string) {
		t.Helper()
		if _, err := c.append(t.Context(), func(facts) ([]string, error) { return []string{body}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	a := memory.New()
	known := newChain(a, k, true)
	if err := known.reread(t.Context()); err != nil {
		t.Errorf("a log that does not exist: %v", err)
	}
	early := newChain(a, k, true)
	if err := early.reread(t.Context()); err != nil {
		t.Fatal(err)
	}
	add(known, `{"a":1}`)
	if err := early.reread(t.Context()); err != nil || early.state.seq != 1 {
		t.Errorf("another process began it: %v", err)
	}
	other := newChain(a, k, true)
	add(other, `{"a":2}`)
	if err := known.reread(t.Context()); err != nil || known.state.seq != 2 || known.state.first != other.state.first {
		t.Errorf("another process appended: %v, %d lines; want no error and 2", err, known.state.seq)
	}
	was := known.state
	if err := a.Remove(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if err := known.reread(t.Context()); !errors.Is(err, ErrErased) || known.state.end != was.end {
		t.Errorf("it is gone: %v, want ErrErased", err)
	}
	add(newChain(a, k, true), `{"b":1}`)
	if err := known.reread(t.Context()); !errors.Is(err, ErrErased) || known.state.end != was.end {
		t.Errorf("a new log with the same name: %v", err)
	}
}

// rewritten is an archive in which another process changes a log between two reads,
// like a process that completes a scrub.
type rewritten struct {
	*memory.Archive
	opens  int
	change func()
}

func (a *rewritten) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if a.opens++; a.opens == 2 { // the first read asks for the size
		a.change()
	}
	return a.Archive.Open(ctx, k, off, n)
}

// The size of a log and its end are read separately. A log that was rewritten between the two
// reads is neither damaged nor erased, even if it has fewer bytes than the second read skips.
func TestLogRewrittenDuringTheSearchForItsEndIsReread(t *testing.T) {
	k, err := storage.ParseKey("s/edits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, lines := range []int64{0, 1} {
		a := &rewritten{Archive: memory.New()}
		write := func(body string) {
			t.Helper()
			if _, err := newChain(a.Archive, k, false).append(t.Context(), func(facts) ([]string, error) { return []string{body}, nil }); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			write(`{"text":"` + strings.Repeat("a line of some length ", 1500) + `"}`)
		}
		a.change = func() {
			if err := a.Remove(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if lines > 0 {
				write(`{}`)
			}
		}
		got, err := newChain(a, k, false).refresh(t.Context())
		if err != nil || got.seq != lines {
			t.Errorf("%d lines took its place: %d are seen, %v", lines, got.seq, err)
		}
	}
}

// A writer can die in the middle of a line, and a second writer in the middle of a line right
// after this rest. A process that knows only the first rest appends after both.
func TestAppendFollowsARestThatHasGrown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		k, err := storage.ParseKey("s/events.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		a, size := memory.New(), int64(0)
		tear := func(rest string) {
			if err := a.Append(ctx, k, size, blobOf(rest)); err != nil {
				t.Fatal(err)
			}
			size += int64(len(rest))
		}
		tear(`{"seq":1,"pr`)
		c := newChain(a, k, false)
		if _, err := c.refresh(ctx); err != nil {
			t.Fatal(err)
		}
		tear(`ev":"0`)
		if _, err := c.append(ctx, func(facts) ([]string, error) { return []string{`{"a":1}`}, nil }); err != nil {
			t.Fatal(err)
		}
		got := ""
		for line, err := range logLines(ctx, newChain(a, k, false)) {
			if err != nil {
				t.Fatal(err)
			}
			got += string(line)
		}
		if got != `{"a":1}` {
			t.Errorf("the log has %s, want %s", got, `{"a":1}`)
		}
	})
}
