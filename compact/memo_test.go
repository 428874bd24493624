package compact_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/storage/memory"
)

// The memory of a previous call changes no result: a manager returns the same results
// as a manager that has just started, with every preset, even with another agent's
// steps in between.
func TestWarmResultsEqualColdResults(t *testing.T) {
	ctx := context.Background()
	for i, preset := range compact.Presets() {
		if i%samples.Every(1) != 0 {
			continue
		}
		t.Run(preset, func(t *testing.T) {
			a := memory.New()
			config := compact.Config{Preset: preset, Model: "gpt-4o", MaxContextTokens: 12_000, Archive: a}
			if preset == "history-reducer" {
				config.MaxContextTokens = 36_000
			}
			warm := costRig(t, config)
			history, compactions := costHistory(90), 0
			for n := 3; n <= len(history); n++ {
				if n%3 != 0 {
					continue // an agent's calls do not come one message at a time
				}
				cold := costRig(t, config)
				plan, err := cold.Plan(ctx, "s", history[:n], compact.WithAgent("a"))
				if err != nil {
					t.Fatal(err)
				}
				res, err := warm.Preflight(ctx, "s", history[:n], compact.WithAgent("a"))
				if err != nil {
					t.Fatal(err)
				}
				if res.Triggered {
					compactions++
				}
				if got, want := told(t, res), told(t, plan); got != want {
					t.Fatalf("%d messages:\n%s\nand cold:\n%s", n, got, want)
				}
				if _, err := warm.Preflight(ctx, "s", history[:n/2], compact.WithAgent("b")); err != nil {
					t.Fatal(err)
				}
			}
			if compactions < 2 {
				t.Fatalf("%d compactions, want at least 2", compactions)
			}
		})
	}
}

// told returns a result without the values that only a storing call can know.
func told(t *testing.T, res *compact.Result) string {
	t.Helper()
	r := *res
	r.Timing, r.Step, r.Archived, r.Stages, r.Warnings, r.Bill = compact.Timing{}, 0, nil, nil, nil, nil
	out, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Messages {
		out = openai.AppendMessage(append(out, '\n'), m)
	}
	return string(out)
}

func costRig(t *testing.T, c compact.Config) *compact.CompactManager {
	t.Helper()
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}

// A step can cover the whole history, except pinned messages at its end. Pinned messages that
// follow have the same place in this process as in another.
func TestPinnedMessagesAfterAWholeCutStayInTheirPlace(t *testing.T) {
	c := compact.Config{MaxContextTokens: 8_000, Archive: memory.New()}
	c.Policy.KeepRecentTurns = 1
	history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	pinned := func(m message.Message) message.Message { m.Protected = true; return m }
	for i := range 40 {
		if i > 0 {
			history = append(history, message.User(fmt.Sprintf("And part %d?", i)))
		}
		history = append(history, message.Assistant(fmt.Sprintf("I read part %d. %s", i, text(60))))
	}
	history = append(history, pinned(message.User("Is that all?")), pinned(message.Assistant("All is read.")), pinned(message.User("Write it down.")))
	r := newRig(t, c)
	if res, err := r.ManualCompact(t.Context(), "s", history, ""); err != nil || res.Step != 1 {
		t.Fatalf("step %d: %v, want 1 and no error", res.Step, err)
	}
	history = append(history, pinned(message.Assistant("It is written.")), pinned(message.User("Go on.")))
	here, there := r.preflight(history), newRig(t, c).preflight(history)
	if here.Replayed == 0 || bytesOf(here.Messages) != bytesOf(there.Messages) {
		t.Errorf("%d edits replayed; the view is\n%s\nin another process\n%s", here.Replayed, bytesOf(here.Messages), bytesOf(there.Messages))
	}
}

// An agent goes back, and repeats the same rounds one by one. The earlier step applies again as
// soon as its prefix is complete.
func TestAHistoryThatGrowsAgainRoundByRoundFindsItsStep(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	n, history := 0, loop(60, 200)
	var first *compact.Result
	for n = 4; n <= len(history); n += 2 {
		if first = r.preflight(history[:n]); first.Step > 0 {
			break
		}
	}
	if first.Step != 1 {
		t.Fatalf("step %d, want 1", first.Step)
	}
	for back := 10; back <= n; back += 2 {
		again := r.preflight(history[:back])
		if again.Step > 0 && back < n {
			t.Fatalf("a history of %d messages is compacted", back)
		}
		if back == n && (again.Step > 0 || again.Replayed == 0 || bytesOf(again.Messages) != bytesOf(first.Messages)) {
			t.Errorf("step %d, %d edits made again", again.Step, again.Replayed)
		}
	}
}
