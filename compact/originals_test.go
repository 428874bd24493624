package compact_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// tornWrite is the output of a test; its result is masked long before it is
// summarized.
const tornWrite = "--- FAIL: TestTornWrite"

// testRuns returns a conversation whose third call runs a failing test, with a
// long result.
func testRuns(rounds int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make all tests of storage pass.")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		result := fmt.Sprintf("Exit code 0\nok  \tstorage/part%d\t0.1s\n%s", i, text(200))
		if i == 3 {
			result = "Exit code 1\n" + text(200) + "\n" + tornWrite + " (0.01s)\n    torn_test.go:31: got 3 files, want 2\nFAIL\tstorage/part3\t0.2s"
		}
		msgs = append(msgs, message.Assistant("", message.Call(id, "bash", fmt.Sprintf(`{"command":"go test ./storage/part%d"}`, i))), message.ToolResult(id, result))
	}
	return append(msgs, message.User("What is left to do?"))
}

// masks returns the view of a closed manager that masked. Its placeholders quote
// nothing, so the facts of a summary do not come from them.
func masks(t *testing.T, archive storage.Archive) (history []message.Message, view []message.Message) {
	t.Helper()
	r := newRig(t, compact.Config{MaxContextTokens: 32_000, Archive: archive, Mask: policy.MaskConfig{Plain: true}, Policy: policy.Config{Stages: []string{"truncate", "mask"}}})
	history = testRuns(40)
	res, err := r.ManualCompact(t.Context(), "s", history, "")
	if err != nil || res.MaskedCount == 0 || strings.Contains(bytesOf(res.Messages), tornWrite) {
		t.Fatalf("%d masked: %v", res.MaskedCount, err)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return history, res.Messages
}

// summarizes returns the result of another manager for a history.
func summarizes(t *testing.T, ctx context.Context, c compact.Config, history []message.Message) *compact.Result {
	t.Helper()
	c.MaxContextTokens = 32_000
	res, err := newRig(t, c).ManualCompact(ctx, "s", history, "")
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// masksOnEveryCall is like masks, for messages that no step has archived yet.
func masksOnEveryCall(t *testing.T, archive storage.Archive) (view []message.Message) {
	t.Helper()
	r := newRig(t, compact.Config{MaxContextTokens: 32_000, Archive: archive, Policy: policy.Config{Stages: []string{"mask"}}, Mask: policy.MaskConfig{When: policy.Always, Plain: true}})
	res := r.preflight(testRuns(40))
	if res.Step != 0 || res.MaskedCount == 0 {
		t.Fatalf("step %d, %d masked, want 0", res.Step, res.MaskedCount)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return res.Messages
}

// eachWay runs a test with the whole history and with the kept view, after
// another process masked and ended.
func eachWay(t *testing.T, f func(t *testing.T, archive storage.Archive, history []message.Message)) {
	archive := memory.New()
	history, view := masks(t, archive)
	t.Run("whole history", func(t *testing.T) { f(t, archive, history) })
	t.Run("kept view", func(t *testing.T) {
		archive := memory.New()
		_, view = masks(t, archive)
		f(t, archive, view)
	})
	t.Run("kept view of a preset that works on every call", func(t *testing.T) {
		archive := memory.New()
		f(t, archive, masksOnEveryCall(t, archive))
	})
}

// The summary also covers results that another process masked earlier: it reads
// them from the history if that is whole, and from the archive if the caller
// keeps the view.
func TestSummaryStatesOutcomesOfMaskedResults(t *testing.T) {
	eachWay(t, func(t *testing.T, archive storage.Archive, history []message.Message) {
		res := summarizes(t, t.Context(), compact.Config{Archive: archive}, history)
		if res.Summary == nil || !strings.Contains(res.Summary.Text, tornWrite) {
			t.Errorf("the summary does not state the outcome of the test: %+v", res.Summary)
		}
		if len(res.Warnings) > 0 {
			t.Error(res.Warnings)
		}
	})
}

// asked is a model that records its requests.
type asked struct {
	mu     sync.Mutex
	prompt string
}

func (a *asked) Summarize(_ context.Context, r strategy.Request) (strategy.Draft, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p := r.Prompt()
	a.prompt += p.System + p.User
	return strategy.Draft{Text: "## What happened\n- `go test ./storage/part3` failed: " + tornWrite}, nil
}

func TestSummarizerGetsTheOriginals(t *testing.T) {
	eachWay(t, func(t *testing.T, archive storage.Archive, history []message.Message) {
		a := &asked{}
		res := summarizes(t, t.Context(), compact.Config{Archive: archive, Summarize: a}, history)
		if !strings.Contains(a.prompt, tornWrite) || strings.Contains(a.prompt, "observation masked") {
			t.Error("the prompt has placeholders instead of originals")
		}
		if res.Summary == nil || !strings.Contains(res.Summary.Text, tornWrite) {
			t.Errorf("verification cut a fact of the original: %+v", res.Summary)
		}
	})
}

// unreadableTranscript is an archive whose first transcript can't be read, or only slowly.
type unreadableTranscript struct {
	*memory.Archive
	down bool
	slow time.Duration
}

func (a *unreadableTranscript) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if k.Base() == "transcript-pre-compact-001.jsonl" && a.down {
		return nil, &storage.Error{Op: "open", Key: k, Err: errNoBucket}
	}
	if k.Base() == "transcript-pre-compact-001.jsonl" && a.slow > 0 {
		select {
		case <-time.After(a.slow):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return a.Archive.Open(ctx, k, off, n)
}

// The summary omits unreadable originals, the call does not fail, and a warning
// without secrets reports it. A caller with a deadline gets its answer in time,
// with the summary.
func TestUnreadableOriginalsAreOmitted(t *testing.T) {
	for name, a := range map[string]*unreadableTranscript{"down": {down: true}, "slow": {slow: time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a.Archive = memory.New()
				_, view := masks(t, a.Archive)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				res := summarizes(t, ctx, compact.Config{Archive: a}, view)
				if res.Summary == nil {
					t.Fatal("there is no summary")
				}
				for _, claim := range []string{"TestTornWrite", "storage/part3` passed", "storage/part3` failed", "masked"} {
					if strings.Contains(res.Summary.Text, claim) {
						t.Errorf("the summary contains %q:\n%s", claim, res.Summary.Text)
					}
				}
				said := strings.Join(res.Warnings, "\n")
				if !strings.Contains(said, "could be read back") || strings.Contains(said, "hunter2") {
					t.Errorf("warnings: %s, want text with %q and text without %q", said, "could be read back", "hunter2")
				}
				a.Archive = memory.New()
				history, _ := masks(t, a.Archive)
				if res = summarizes(t, ctx, compact.Config{Archive: a}, history); res.Summary == nil || !strings.Contains(res.Summary.Text, tornWrite) {
					t.Error("originals in the history need no archive")
				}
			})
		})
	}
}
