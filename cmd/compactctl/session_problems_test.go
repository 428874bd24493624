package main

import (
	"testing"

	"github.com/agentcompact/compact/replay"
)

func TestProblemsOfASessionAreToldByKind(t *testing.T) {
	lost := replay.AccountProblem{Type: "CommitLost", Fallback: "next number", Message: "another process took the number"}
	budget := replay.AccountProblem{Type: "InsufficientBudget", Fallback: "none", Message: "too much must stay"}
	for _, c := range []struct {
		all          []replay.AccountProblem
		count, lines string
	}{
		{nil, "0 errors", ""},
		{[]replay.AccountProblem{lost, lost}, "0 errors, 2 got over", "got over (next number): 2 × CommitLost: another process took the number\n"},
		{[]replay.AccountProblem{lost, budget, lost}, "1 error, 2 got over", "got over (next number): 2 × CommitLost: another process took the number\n" +
			"error: 1 × InsufficientBudget: too much must stay\n"},
	} {
		if got := problemsOf(c.all); got != c.count {
			t.Errorf("got %q, want %q", got, c.count)
		}
		if got := problemLines(c.all); got != c.lines {
			t.Errorf("got\n%swant\n%s", got, c.lines)
		}
	}
}
