package invariant

import (
	"fmt"
	"slices"

	"github.com/agentcompact/compact/message"
)

// The decisions on messages.
const (
	kept       = "kept"
	truncated  = "truncated"
	masked     = "masked"
	summarized = "summarized"
	dropped    = "dropped"
)

// judge is the state of judging one case.
type judge struct {
	*Case
	in, out         *reading
	costIn, costOut []int
	pinnedRound     []bool // by message of In: its round holds a pinned message
	repeats         []bool // the message occurs again later, and may be removed

	strict bool  // the decisions determine the layout
	src    []int // message of Out → message of In, -1 = made by the compaction
	place  []int // message of In → message of Out, -1 = removed

	found collector
}

// collector gathers violations, at most a few per rule.
type collector []Violation

const perRule = 3

func (f *collector) fail(rule, format string, args ...any) {
	n := 0
	for _, v := range *f {
		if v.Rule == rule {
			n++
		}
	}
	if n < perRule {
		*f = append(*f, Violation{Rule: rule, Detail: fmt.Sprintf(format, args...)})
	}
}

func (j *judge) fail(rule, format string, args ...any) { j.found.fail(rule, format, args...) }

func newJudge(c *Case) *judge {
	j := &judge{Case: c, in: read(c.In), out: read(c.Out)}
	j.costIn, j.costOut = costs(c.In, c.Cost), costs(c.Out, c.Cost)
	j.pinnedRound, j.repeats = j.in.spread(j.pinned), j.in.repeated(j.Pinned, nil)
	return j
}

func costs(msgs []message.Message, cost func(message.Message) int) []int {
	out := make([]int, len(msgs))
	for i := range msgs {
		out[i] = cost(msgs[i])
	}
	return out
}

func sum(ns []int) int {
	total := 0
	for _, n := range ns {
		total += n
	}
	return total
}

// pinned reports whether a message must stay unchanged byte for byte.
func (j *judge) pinned(m message.Message) bool { return pins(j.Pinned, m) }

func pins(f func(message.Message) bool, m message.Message) bool {
	if m.Protected {
		return true
	}
	if f == nil || m.Role != message.RoleUser && ours(m) {
		return false
	}
	return f(m)
}

// survives reports whether message i is in the view by its decision.
func (j *judge) survives(i int) bool {
	return j.Decisions[i] != summarized && j.Decisions[i] != dropped
}

// decisionsAreValid checks the decisions themselves.
func (j *judge) decisionsAreValid() bool {
	if len(j.Decisions) != len(j.In) {
		j.fail(RuleAccount, "%d decisions for %d messages", len(j.Decisions), len(j.In))
		return false
	}
	ok := true
	for i, d := range j.Decisions {
		if !slices.Contains([]string{kept, truncated, masked, summarized, dropped}, d) {
			j.fail(RuleAccount, "message %d is %q", i, d)
			ok = false
		}
	}
	return ok
}

// unaligned checks the rules that need no decisions.
func (j *judge) unaligned() {
	j.checkOrphans()
	j.checkPairing()
	j.checkBudget()
}

// originOf returns the text of a part of the history before any edit.
func (j *judge) originOf(i, p int) string {
	if j.Origin != nil {
		return j.Origin(i, p)
	}
	return j.In[i].Parts[p].Text
}
