package compact_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// fixedSummarizer is a summarizer with a fixed answer.
type fixedSummarizer struct {
	text  string
	calls atomic.Int64
}

func (s *fixedSummarizer) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	s.calls.Add(1)
	select {
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	case <-time.After(500 * time.Millisecond):
		return strategy.Draft{Text: s.text, PromptTokens: 900, CompletionTokens: 20}, nil
	}
}

const lateSecret = "zebra-Kx81-quartz-55"

// A summary that was written before the session learned of a secret may contain
// it: the secret is removed when the summary enters the view.
func TestSummaryIsRedactedWithLaterSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fixedSummarizer{text: "## Goals and success criteria\n- [open] log in as the tester with " + lateSecret + "\n"}
		r := newRig(t, compact.Config{MaxContextTokens: 16_000, Summarize: s})
		history := loop(250, 200)
		history[1] = message.User("Log in as the tester with " + lateSecret + " and make all tests pass.")
		if _, err := r.Preflight(gaveUp(t), "s", history); err == nil {
			t.Fatal("the summary was finished in time: the test proves nothing")
		}
		time.Sleep(time.Second)
		history = append(history, message.Assistant("", message.Call("env", "bash", `{"cmd":"env"}`)), message.ToolResult("env", "PASSWORD="+lateSecret))
		res := r.preflight(history)
		if res.Summary == nil || s.calls.Load() != 1 {
			t.Fatalf("summary %v, %d paid, want 1", res.Summary, s.calls.Load())
		}
		if strings.Contains(res.Summary.Text, lateSecret) {
			t.Errorf("the secret is in the summary: %s", res.Summary.Text)
		}
		for _, m := range res.Messages {
			if strings.HasPrefix(m.Text(), "<COMPACT-SUMMARY") && strings.Contains(m.Text(), lateSecret) {
				t.Errorf("the secret is in the view")
			}
		}
	})
}

// A summary whose step could not be committed stays available for the next
// call, even if the lane makes other steps in between.
func TestSummaryOfAFailedCommitIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		archive := &failing{Archive: memory.New(), word: "ledger-"}
		s := &fixedSummarizer{text: "## Goals and success criteria\n- [open] the tests of the module pass\n"}
		r := newRig(t, compact.Config{MaxContextTokens: 16_000, Summarize: s, Archive: archive})
		history := loop(250, 200)
		if _, err := r.Preflight(t.Context(), "s", history); err == nil || s.calls.Load() != 1 {
			t.Fatalf("%v, %d paid: the test proves nothing", err, s.calls.Load())
		}
		archive.word = ""
		other := r.preflight(loop(30, 460)) // masks are enough
		if other.Step != 1 || other.Summary != nil || s.calls.Load() != 1 {
			t.Fatalf("step %d, summary %v, %d paid: the test proves nothing", other.Step, other.Summary, s.calls.Load())
		}
		res := r.preflight(history)
		if res.Summary == nil || s.calls.Load() != 1 {
			t.Errorf("summary %v, %d paid, want 1", res.Summary, s.calls.Load())
		}
	})
}
