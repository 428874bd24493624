package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentcompact/compact/replay"
)

func TestProblemsOfASessionAreGroupedByKind(t *testing.T) {
	at := time.Date(2026, 5, 4, 11, 0, 0, 0, time.FixedZone("", 7200))
	lost := replay.AccountProblem{At: at, Agent: "a", Type: "CommitLost", Fallback: "next number", Message: "another process took the number"}
	budget := replay.AccountProblem{At: at.Add(time.Minute), Agent: "b", Type: "InsufficientBudget", Fallback: "none", Message: "too much must stay"}
	budgetToo := budget
	budgetToo.Message = "even more must stay"
	const wasLost = "recovered (next number): 2 × CommitLost\n  2026-05-04 09:00 UTC, 2 ×: another process took the number\n"
	for _, c := range []struct {
		all          []replay.AccountProblem
		agents       bool
		count, lines string
	}{
		{nil, false, "0 errors", ""},
		{[]replay.AccountProblem{lost, lost}, false, "0 errors, 2 recovered", wasLost},
		{[]replay.AccountProblem{lost, budget, lost, budgetToo}, false, "2 errors, 2 recovered", wasLost +
			"error: 2 × InsufficientBudget\n  2026-05-04 09:01 UTC: too much must stay\n  2026-05-04 09:01 UTC: even more must stay\n"},
		{[]replay.AccountProblem{budget}, true, "1 error", "error: 1 × InsufficientBudget\n  2026-05-04 09:01 UTC, agent b: too much must stay\n"},
	} {
		if got := problemsOf(&replay.Account{Errors: c.all}); got != c.count {
			t.Errorf("got %q, want %q", got, c.count)
		}
		if got := problemLines(c.all, c.agents); got != c.lines {
			t.Errorf("got\n%swant\n%s", got, c.lines)
		}
	}
}

func TestReportEndsWithTheTextsThatFit(t *testing.T) {
	var all []replay.AccountProblem
	for k := range 8 {
		all = append(all, replay.AccountProblem{Type: "X", Message: fmt.Sprint("text ", k)})
	}
	want := "error: 8 × X\n"
	for k := range 5 {
		want += fmt.Sprintf("  at an unknown time: text %d\n", k)
	}
	if got := problemLines(all, false); got != want+"  and 3 other texts: --json has all\n" {
		t.Errorf("got\n%s", got)
	}
}

// A reader with several agents sees which of them compacted.
func TestStepsNameTheirAgentIfThereAreSeveral(t *testing.T) {
	x := &replay.Account{
		Calls: []replay.AccountCall{{Agent: "main"}, {Agent: "main"}},
		Steps: []replay.AccountStep{{Step: 1, Agent: "main", Stages: []string{"mask"}, Before: 9000, After: 1000, Reason: "manual"}},
	}
	const head = "\nstep      before → after       stages, removed messages, reason\n"
	if got, want := stepLines(x), head+"   1       9,000 → 1,000       mask, 0 messages  it was requested\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	x.Steps[0].Gone, x.Steps[0].Missing = make([]replay.GoneLine, 2), 3 // the archive lacks three of the five messages
	if got, want := stepLines(x), head+"   1       9,000 → 1,000       mask, 5 messages  it was requested\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	x.Steps[0].Gone, x.Steps[0].Missing, x.Calls[1].Agent = nil, 0, "other"
	if got, want := stepLines(x), "\nstep  agent      before → after       stages, removed messages, reason\n   1  main        9,000 → 1,000       mask, 0 messages  it was requested\n"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
