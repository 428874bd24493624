package compact_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// Two processes have a session in memory; it is erased, and one of them continues. before
// is the other process's knowledge of the session: a step, only an audit log, or nothing.
func erasedUnderBoth(t *testing.T, before string, run func(t *testing.T, unaware, goesOn *rig, history []message.Message)) {
	t.Helper()
	t.Run(before, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := memory.New()
			unaware, goesOn := newRig(t, compact.Config{Archive: a}), newRig(t, compact.Config{Archive: a})
			history := loop(12, 200)
			switch before {
			case "a step":
				if _, err := unaware.ManualCompact(t.Context(), "s", history, "test"); err != nil {
					t.Fatal(err)
				}
			case "an audit log":
				unaware.preflight(history)
			case "nothing": // the process has the session in memory, and others store it
				_, _ = unaware.Recall(t.Context(), "s", strings.Repeat("a1", 6))
				if _, err := newRig(t, compact.Config{Archive: a}).ManualCompact(t.Context(), "s", history, "test"); err != nil {
					t.Fatal(err)
				}
			}
			if err := unaware.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // no process takes the session for one that was just opened
			erase(t, a, "s")
			time.Sleep(time.Second)
			run(t, unaware, goesOn, history)
			if lives := livesIn(t, a); !strings.HasPrefix(lives, "s.after-") || strings.Contains(lives, " ") {
				t.Errorf("the session continues in %q, want text that begins with %q and text without %q", lives, "s.after-", " ")
			}
		})
	})
}

func befores(t *testing.T, run func(t *testing.T, unaware, goesOn *rig, history []message.Message)) {
	t.Helper()
	for _, before := range []string{"a step", "an audit log", "nothing"} {
		erasedUnderBoth(t, before, run)
	}
}

// A process that holds an erased session in memory continues in the same folder as
// other processes. This holds for each kind of first operation.
func TestStepAfterAnEraseJoinsTheNextLife(t *testing.T) {
	befores(t, func(t *testing.T, unaware, _ *rig, history []message.Message) {
		history = append(slices.Clone(history), round(40, 200)...)
		if res, err := unaware.ManualCompact(t.Context(), "s", history, "test"); err != nil || res.Step != 1 {
			t.Errorf("step %d, %v; want 1 and no error", res.Step, err)
		}
	})
}

func TestArchiveContinuesInTheNextLifeAfterAnErase(t *testing.T) {
	befores(t, func(t *testing.T, unaware, _ *rig, history []message.Message) {
		if err := unaware.Archive(t.Context(), "s", history); err != nil {
			t.Error(err)
		}
	})
}

func TestRecallAfterAnEraseReadsTheNextLife(t *testing.T) {
	befores(t, func(t *testing.T, unaware, goesOn *rig, history []message.Message) {
		history = append(slices.Clone(history), round(41, 200)...)
		if res, err := goesOn.ManualCompact(t.Context(), "s", history, "test"); err != nil || res.Step != 1 {
			t.Fatalf("step %d, %v; want 1 and no error", res.Step, err)
		}
		p := history[3].Parts[0]
		if got, err := unaware.Recall(t.Context(), "s", testkey.Ref(p)); err != nil || got != p.Text {
			t.Errorf("recalled %.40q, %v; want %q and no error", got, err, p.Text)
		}
	})
}

func TestSearchAfterAnEraseReadsTheNextLife(t *testing.T) {
	befores(t, func(t *testing.T, unaware, goesOn *rig, history []message.Message) {
		history = append(slices.Clone(history), round(41, 200)...)
		if res, err := goesOn.ManualCompact(t.Context(), "s", history, "test"); err != nil || res.Step != 1 {
			t.Fatalf("step %d, %v; want 1 and no error", res.Step, err)
		}
		word, _, _ := strings.Cut(history[3].Parts[0].Text, "\n")
		found, err := unaware.Search(context.Background(), "s", regexp.MustCompile(regexp.QuoteMeta(word[:min(len(word), 40)])), 0)
		if err != nil || found.Lines == 0 {
			t.Errorf("found %d lines, %v", found.Lines, err)
		}
	})
}

// Waiting lines also reveal an erase to a process: it then forgets its state.
func TestAuditLogReportsAnErase(t *testing.T) {
	befores(t, func(t *testing.T, unaware, goesOn *rig, history []message.Message) {
		unaware.preflight(history) // leaves lines
		if err := unaware.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		history = append(slices.Clone(history), round(42, 200)...)
		res, err := unaware.Preflight(t.Context(), "s", history)
		if err != nil || res.Replayed != 0 {
			t.Errorf("edits of the erased session are made again: %d, %v; want 0 and no error", res.Replayed, err)
		}
		if _, err := unaware.ManualCompact(t.Context(), "s", history, "test"); err != nil {
			t.Error(err)
		}
	})
}
