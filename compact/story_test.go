package compact_test

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// traces returns the names in a list of traces, oldest first.
func (r *rig) traces() (out []string) {
	r.t.Helper()
	for _, e := range r.named(trace.NameBeforeModelCall) {
		out = append(out, e.Trace.Name.String())
	}
	return out
}

// TestTraceNamesStateTheFillOfTheWindow: each name states the fill of the
// window, or the stages and their result.
func TestTraceNamesStateTheFillOfTheWindow(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := loop(60, 200)
	for n := 10; n <= len(history); n += 10 {
		r.preflight(history[:n:n])
	}
	level := regexp.MustCompile(`^\d+ %, [\d,]+ of 8,000$`)
	step := regexp.MustCompile(`^#(\d+) (truncation|masking|summarization): [\d,]+ → [\d,]+ tokens \(\d+ % → \d+ %\), [1-9]\d* messages$`)
	levels, steps := 0, 0
	for _, name := range r.traces() {
		switch {
		case level.MatchString(name):
			levels++
		case step.MatchString(name):
			steps++
		default:
			t.Errorf("a trace is called %q", name)
		}
	}
	if levels == 0 || steps < 2 {
		t.Errorf("%d levels, %d steps, want at least 2", levels, steps)
	}
}

func TestTracesShowFailuresAndFallbacks(t *testing.T) {
	r := newRig(t, compact.Config{MaxContextTokens: 3_000, Model: "gpt-4"})
	if _, err := r.Preflight(context.Background(), "s", turns(1, 5_000)); !errors.Is(err, compact.ErrInsufficientBudget) {
		t.Fatal(err)
	}
	if name := r.traces()[0]; !regexp.MustCompile(`^FAILED InsufficientBudget: [\d,]+ tokens must stay, [\d,]+ fit$`).MatchString(name) {
		t.Errorf("a failed call is called %q", name)
	}
	c := compact.Config{MaxContextTokens: 8_000}
	c.Summarize = outOfOrder{}
	r = newRig(t, c)
	r.preflight(loop(100, 200))
	if name := r.traces()[0]; !regexp.MustCompile(`^#1 FALLBACK: [1-9]\d* messages without a summary, [\d,]+ → [\d,]+ tokens \(\d+ % → \d+ %\)$`).MatchString(name) {
		t.Errorf("a fallback is called %q", name)
	}
}

// TestResultsReducedOnArrivalAreReported: the trigger was not reached.
func TestResultsReducedOnArrivalAreReported(t *testing.T) {
	a := memory.New()
	c := tidyConfig(a)
	seen := &tracetest.Recorder{}
	c.Exporters = append(c.Exporters, seen)
	m := costRig(t, c)
	eachCall(t, m, tidyLoop(3), nil)
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		trace.NameBeforeModelCall: `"output_text":"reduced 1 result at arrival: `,
		trace.NameTriggerDecision: `"output_text":"results were reduced at arrival; no compaction is due (`,
	} {
		found := 0
		for _, e := range seen.Named(name) {
			if strings.Contains(e.Data.String(), `"triggered":true`) {
				found++
				if !strings.Contains(e.Data.String(), want) {
					t.Errorf("the event lacks the reduction: %s", e.Data)
				}
			}
			if e.Trace != nil && strings.Contains(e.Data.String(), `"triggered":true`) && !regexp.MustCompile(`^reduced at arrival: [\d,]+ → [\d,]+ tokens \(\d+ % → \d+ %\), 1 message$`).MatchString(e.Trace.Name.String()) {
				t.Errorf("a trace is called %q", e.Trace.Name)
			}
		}
		if found != 3 {
			t.Errorf("%d events %s of calls that reduced something, want 3", found, name)
		}
	}
}

// TestAStepThatOnlyMasksIsNotCalledASummary: the view has the summary of an
// earlier step.
func TestAStepThatOnlyMasksIsNotCalledASummary(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.MaxContextTokens, c.Mask.WindowTurns, c.Policy.KeepRecentTurns, c.Policy.KeepToolIOPairs = 8_000, 2, 2, 2
	r := newRig(t, c)
	history := turns(20, 60) // no results: all that can be done is a summary
	if _, err := r.ManualCompact(context.Background(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		history = append(history, round(i, 500)...)
		r.preflight(history[:len(history):len(history)])
	}
	steps := map[string]int{}
	for _, e := range r.named(trace.NameBeforeModelCall) {
		data, name := e.Data.String(), e.Trace.Name.String()
		if !strings.Contains(data, `"triggered":true`) || !strings.Contains(data, `"reduction_stage":"summarization"`) {
			continue
		}
		summary := !strings.Contains(data, `"summarized_count":0`)
		steps[strconv.FormatBool(summary)]++
		if strings.Contains(name, " summarization: ") != summary || strings.Contains(data, `"output_text":"compacted `) != summary {
			t.Errorf("%q is %s", name, data)
		}
	}
	if steps["true"] == 0 || steps["false"] == 0 {
		t.Errorf("steps with a summary, and without: %v", steps)
	}
}

// TestHeadingsOfLongSessionsStayDifferent: the ids have the same beginning.
func TestHeadingsOfLongSessionsStayDifferent(t *testing.T) {
	r := newRig(t, compact.Config{})
	seen := map[string]bool{}
	for _, id := range []string{"short", "session-2026-11-22T10:00:00Z-worker-000000000000000000000001", "session-2026-11-22T10:00:00Z-worker-000000000000000000000002"} {
		if _, err := r.Preflight(context.Background(), id, turns(1, 5)); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range r.named(trace.NameBeforeModelCall) {
		heading := e.Trace.Metadata["agent_name"].String()
		if seen[heading] || len([]rune(heading)) > 60 || !strings.HasPrefix(heading, "session s") {
			t.Errorf("heading %q, want text that begins with %q", heading, "session s")
		}
		seen[heading] = true
	}
	if !seen["session short"] {
		t.Errorf("headings: %v", seen)
	}
}

// outOfOrder is a summarizer that never answers.
type outOfOrder struct{}

// Summarize fails.
func (outOfOrder) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{}, errors.New("out of order")
}
