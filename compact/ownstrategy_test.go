package compact_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

func runs(h *strategy.History) (lines []strategy.Line) {
	for _, s := range h.Steps {
		for range s.Calls {
			lines = append(lines, strategy.Line{Text: "a poll was made", Value: 1, Order: s.ID})
		}
	}
	return lines
}

func withStrategy(extract func(*strategy.History) []strategy.Line) compact.Config {
	return compact.Config{
		MaxContextTokens: 8000, Archive: memory.New(), Policy: policy.Config{Stages: []string{"summarize", "shrink", "squeeze", "drop"}},
		Strategy: &strategy.Strategy{
			Name: "polls", Sections: []strategy.Section{{Title: "Polls"}}, Instructions: "Write what was polled.", Extract: extract,
		},
	}
}

func TestOwnStrategyWritesTheSummary(t *testing.T) {
	res := newRig(t, withStrategy(runs)).preflight(pollHistory())
	if res.Summary == nil || res.Summary.Strategy != "polls" || !strings.Contains(res.Summary.Text, "## Polls\n- a poll was made") {
		t.Fatalf("summary %+v, warnings %q", res.Summary, res.Warnings)
	}
	if !strings.Contains(res.Summary.Text, "## What happened") {
		t.Errorf("the sections that every strategy has are missing:\n%s", res.Summary.Text)
	}
}

// If a strategy fails, there is no summary; the history stays, and other calls
// continue.
func TestOwnStrategyThatPanicsHarmsNothing(t *testing.T) {
	history, want := pollHistory(), pollHistory()
	res := newRig(t, withStrategy(func(*strategy.History) []strategy.Line { panic("a fault") })).preflight(history)
	if res.Summary != nil || res.DroppedCount == 0 || len(res.Warnings) == 0 || !strings.Contains(strings.Join(res.Warnings, " "), "a fault") {
		t.Errorf("summary %+v, dropped %d, warnings %q, want none", res.Summary, res.DroppedCount, res.Warnings)
	}
	for i := range history {
		if history[i].Fingerprint() != want[i].Fingerprint() {
			t.Errorf("message %d was changed", i)
		}
	}
}

// An invalid line is reported as a mistake of the strategy, without a panic or a stack.
func TestOwnStrategyThatReturnsAWrongLineIsReported(t *testing.T) {
	var log logged
	c := withStrategy(func(*strategy.History) []strategy.Line { return []strategy.Line{{Section: 7, Text: "x"}} })
	c.Logger = log.logger()
	r := newRig(t, c)
	res := r.preflight(pollHistory())
	warned := strings.Join(res.Warnings, " ")
	if !strings.Contains(warned, `strategy: "polls" can't be used: its extractor returned a line 0 of section 7; there are 1 sections`) || strings.Contains(warned, "panic") {
		t.Errorf("warnings %q", res.Warnings)
	}
	if s := log.String(); strings.Contains(s, "panicked") || strings.Contains(s, "stack=") {
		t.Errorf("logged %s, want text without %q and text without %q", s, "panicked", "stack=")
	}
	for _, e := range r.named(trace.NameSummarize) {
		if !strings.Contains(e.Data.String(), `"cause":"malformed"`) {
			t.Errorf("the event says %s", e.Data)
		}
	}
}

func TestConfigRefusesAnInvalidStrategy(t *testing.T) {
	c := withStrategy(nil)
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "has no Extract") {
		t.Errorf("got %v, want an error with %q", err, "has no Extract")
	}
	c.Strategy.Extract = runs
	c.Overrides = []compact.Override{{Agent: "a", Set: map[string]any{"policy.strategy": "brief"}}}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if other, err := c.For("", "a"); err != nil || other.Policy.Strategy != "brief" {
		t.Errorf("an override has the strategy %q, %v; want %q and no error", other.Policy.Strategy, err, "brief")
	}
}
