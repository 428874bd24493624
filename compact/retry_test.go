package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// A client that repeats a call, in this process or in another, gets the same view, even
// if another compaction would pay at that time, because the first view has not been sent
// yet.
func TestRepeatedCallCompactsOnce(t *testing.T) {
	compacted := 0
	for _, preset := range compact.Presets() {
		for _, size := range []struct{ rounds, tokens, window int }{{90, 150, 9_000}, {120, 20, 6_000}, {150, 60, 15_000}, {90, 400, 64_000}} {
			t.Run(fmt.Sprint(preset, size), func(t *testing.T) {
				c, err := compact.Preset(preset)
				if err != nil {
					t.Fatal(err)
				}
				c.Model, c.MaxContextTokens, c.Archive = "gpt-4", size.window, memory.New()
				history := loop(size.rounds, size.tokens)
				r := newRig(t, c)
				first := r.preflight(history)
				if first.Triggered {
					compacted++
				}
				for name, again := range map[string]*compact.Result{"here": r.preflight(history), "elsewhere": newRig(t, c).preflight(history)} {
					if again.Triggered || !identical(again.Messages, first.Messages) {
						t.Errorf("%s: %d messages by %q, then %d by %q", name, len(first.Messages), first.Reason, len(again.Messages), again.Reason)
					}
				}
			})
		}
	}
	if compacted < 20 {
		t.Errorf("%d first calls compacted, want at least 20", compacted)
	}
}

// A history contains invalid UTF-8 if a program made it from a tool's output. A summary
// that quotes it is the same in every process.
func TestSummaryOfInvalidUTF8IsDeterministic(t *testing.T) {
	a := memory.New()
	c := compact.Config{MaxContextTokens: 6_000, Archive: a}
	c.Policy.Stages = []string{"summarize"}
	history := []message.Message{message.System("You fix bugs."), message.User("Make caf\xe9.go pass, and nothing else: \xff\xfe.")}
	for i := range 60 {
		history = append(history, round(i, 60)...)
		if i%10 == 5 {
			history = append(history, message.Assistant("Done."), message.User(fmt.Sprintf("And na\xefve_%d.go. %s", i, strings.Repeat("Now. ", i))))
		}
	}
	first := newRig(t, c).preflight(history)
	if !first.Triggered || first.Summary == nil {
		t.Fatalf("nothing was summarized: %s", first.Reason)
	}
	again := newRig(t, c).preflight(history)
	if again.Triggered || !identical(again.Messages, first.Messages) {
		t.Errorf("a different view in another process: step %d, %s", again.Step, again.Reason)
	}
}

// A large result that arrives with the compacting call is reduced like any other, because
// it can't be reduced after it was sent.
func TestNewResultOfAPayingCompactionIsReduced(t *testing.T) {
	c, err := compact.Preset("economy")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens = "gpt-4", 64_000
	for n := 60; n < 200; n++ {
		history := loop(n, 200)
		history = append(history, message.Assistant("", message.Call("log", "bash", `{"command":"make"}`)),
			message.ToolResult("log", strings.Repeat("2026-01-01 10:00:00 INFO worker: a line that says the same as all others\n", 600)))
		res := newRig(t, c).preflight(history)
		if res.Reason != "economic" {
			continue
		}
		last := res.Messages[len(res.Messages)-1].ResultText()
		if !strings.HasSuffix(last, " × 600\n") {
			t.Errorf("%d bytes: %.200q, want text that ends with %q", len(last), last, " × 600\n")
		}
		return
	}
	t.Fatal("no compaction was due because it pays")
}
