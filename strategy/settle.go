package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// settleEntries adds the later success to the entries of failed commands that were
// settled. Another line may also report the success, but a small summary has no room for
// both lines, and the failure alone reads as the final state.
func (h *History) settleEntries(log []event) {
	ends, mended, blamed := h.settlements(), h.mended(), h.blamed()
	for i := range log {
		e := &log[i]
		if e.ran == "" {
			continue
		}
		switch end, step := ends[e.ran], mended[e.ran]; {
		case end.step > e.last:
			if c := e.failed; c != nil { // the reason no longer matters
				e.text = strings.Replace(e.text, reasonOf(c.Result, c.Says), "", 1)
			}
			e.text += "; " + end.how + " in the end " + stepID(end.step)
			e.open, e.value = false, min(e.value, settledValue)
		case !e.open:
			e.value = min(e.value, settledValue)
		case step > e.last:
			e.text += mendedSince(step)
		case e.failed != nil:
			e.text += blamed.of(e.last, e.failed)
		}
	}
}

// settledValue is the value of a failure that a later run of its command
// settled.
const settledValue = 1.9

// A pass is a run that settles an earlier failure.
type pass struct {
	step int
	how  string // "exit 0", "passed" or ranWell
}

// ranWell describes a run without a stated failure, in a harness that states each failure.
const ranWell = "ran without an error"

// settlements returns the runs that settle failed commands: the last run of the command, a
// later run of the same check in another form, a run of a command that contains the failed
// command, or a run of its last part.
func (h *History) settlements() map[string]pass {
	out := h.passed()
	later := map[string]pass{}
	var failed []chain
	quiet := h.statesOnlyFailures()
	h.eachCall(func(s *Step, c *Call) {
		cmd := c.Command()
		if cmd == "" || !c.Answered {
			return
		}
		now := c.chain()
		if c.Outcome == Failed {
			delete(later, cmd)
			if failed = append(failed, now); len(failed) > mostMends {
				failed = failed[1:]
			}
			return
		}
		how := c.endedWell(quiet)
		if how == "" {
			return
		}
		for i := range failed {
			if what, ok := failed[i].settledBy(&now, how); ok {
				later[failed[i].cmd] = pass{s.ID, what}
			}
		}
	})
	for cmd, e := range later {
		if _, ok := out[cmd]; !ok {
			out[cmd] = e
		}
	}
	return out
}

// statesOnlyFailures reports whether the results state only nonzero statuses. In that
// case, a result without a status means that the run succeeded.
func (h *History) statesOnlyFailures() bool {
	failed, zero := false, false
	h.eachCall(func(_ *Step, c *Call) {
		if c.Command() != "" {
			failed, zero = failed || c.Exit > 0, zero || c.Exit == 0
		}
	})
	return failed && !zero
}

// endedWell describes the end of a run that succeeded, "" if the run failed or the end is
// unknown. quiet means that the harness states only failures.
func (c *Call) endedWell(quiet bool) string {
	switch {
	case c.Outcome == OK && c.Check():
		return "passed"
	case c.Outcome == OK && c.Exit == 0:
		return "exit 0"
	case quiet && c.Outcome == Unknown && !running(c.Result) && !refusedCall(c.Result) && c.taskID() == "" && !checks.HidesStatus(c.Command()):
		return ranWell
	}
	return ""
}

// A chain holds the consecutive parts of a command. Each part runs only if the previous
// part succeeded.
type chain struct {
	cmd    string
	parts  []string
	checks []checks.Covering // nil if the command is not a check
	stated bool              // the exit status of the command is known and not 0
}

func (c *Call) chain() chain {
	out := chain{cmd: c.Command(), stated: c.Exit > 0}
	if c.Check() {
		out.checks = c.checks()
	}
	if strings.ContainsAny(out.cmd, ";|\n`(") {
		out.parts = []string{out.cmd} // the outcome of one part says nothing about the other parts
		return out
	}
	for _, part := range shell.Split(out.cmd) {
		if part = prose.Squash(strings.ReplaceAll(part, "2>&1", "")); part != "" {
			out.parts = append(out.parts, part)
		}
	}
	return out
}

// settledBy describes how a successful run settles a failed command.
func (f *chain) settledBy(now *chain, how string) (what string, ok bool) {
	if how == ranWell && !f.stated {
		return "", false
	}
	at, whole := f.within(now)
	switch {
	case whole, f.checks != nil && checks.Same(f.checks, now.checks):
		return how, true
	case at > 0 && f.checks == nil && !moves(f.parts[:at]):
		if how == "exit 0" {
			how = "ended with " + how
		}
		return "its `" + shortCommand(now.cmd) + "` " + how, true
	}
	return "", false
}

// within compares the parts of two commands. whole reports that the later command contains
// all parts of f. Otherwise f may end with the parts of the later command: at is then the
// index in f of the first of these parts, and else 0.
func (f *chain) within(now *chain) (at int, whole bool) {
	n, m := len(f.parts), len(now.parts)
	for from := 0; from+n <= m; from++ {
		if slices.Equal(now.parts[from:from+n], f.parts) && !moves(now.parts[:from]) {
			return 0, true
		}
	}
	if m > 0 && m < n && slices.Equal(f.parts[n-m:], now.parts) {
		return n - m, false
	}
	return 0, false
}

// moves reports whether parts of a command change the folder in which the other parts run.
func moves(parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return prose.BeginsAny(p, []string{"cd ", "pushd "}) })
}

// passed returns the commands whose last run succeeded, with that run or a later run of
// the same check in another form.
func (h *History) passed() map[string]pass {
	out := map[string]pass{}
	failed := checks.Reruns{}
	h.eachCall(func(s *Step, c *Call) {
		cmd := c.Command()
		if cmd == "" || !c.Answered {
			return
		}
		if delete(out, cmd); c.Exit == 0 && c.Outcome == OK {
			out[cmd] = pass{s.ID, "exit 0"}
		}
		if !c.Check() {
			return
		}
		switch c.Outcome {
		case Failed:
			failed.Wait(cmd)
		case OK:
			for _, settled := range failed.Settle(cmd) {
				if out[settled].step < s.ID {
					out[settled] = pass{s.ID, "passed"}
				}
			}
		}
	})
	return out
}
