package compact_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// traces returns what a list of traces shows, oldest first.
func (r *rig) traces() (out []string) {
	r.t.Helper()
	for _, e := range r.named(trace.NameBeforeModelCall) {
		out = append(out, e.Trace.Name.String())
	}
	return out
}

// TestTheListOfTracesIsTheCurveOfTheSession: each name says how full the window
// is, or what was done and what of it.
func TestTheListOfTracesIsTheCurveOfTheSession(t *testing.T) {
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
		t.Errorf("%d levels, %d steps", levels, steps)
	}
}

func TestTracesOfFailuresAndFallbacksSaySo(t *testing.T) {
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

// TestHeadingsOfLongSessionsStayDifferent: ids that begin alike.
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
			t.Errorf("heading %q", heading)
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
