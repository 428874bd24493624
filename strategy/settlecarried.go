package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// settledSince returns the runs that settle failed commands of the previous summary. The
// key is the command as the summary quotes it.
func (h *History) settledSince() map[string]pass {
	failed, chains := checks.Reruns{}, map[string]chain{}
	quiet := h.quietSince()
	h.Previous.all(func(lines []string) []string {
		for _, l := range lines {
			if k := subject(withoutStep(l)); k != "" && strings.Contains(l, " failed") && !settledLine(l) {
				failed.Wait(k)
				chains[k] = quotedCall(k, strings.Contains(l, " failed (exit ")).chain()
			}
		}
		return lines
	})
	out := map[string]pass{}
	if len(chains) == 0 {
		return out
	}
	oneFolder := len(h.folders()) < 2
	h.eachCall(func(s *Step, c *Call) {
		how := c.endedWell(quiet)
		if how == "" || !c.Answered {
			return
		}
		forms := []string{c.Command()}
		if shown := c.shown(); shown != "" && oneFolder {
			forms = append(forms, shown) // the quoted form, without the folder
		}
		for _, cmd := range forms {
			if c.Check() && c.Outcome == OK {
				for _, k := range failed.Settle(cmd) {
					out[k] = pass{s.ID, "passed"}
				}
			}
			now := quotedCall(cmd, false).chain()
			for k, f := range chains {
				if what, ok := f.settledBy(&now, how); ok && out[k].step < s.ID {
					out[k] = pass{s.ID, what}
				}
			}
		}
	})
	return out
}

// quotedCall returns a call of a command that a summary quotes.
func quotedCall(cmd string, failed bool) *Call {
	c := &Call{Tool: "bash", Args: []Arg{{"command", cmd}}, Exit: -1}
	if failed {
		c.Exit = 1
	}
	return c
}

// shown returns the command of a call in the form in which a line about its failure quotes
// it, "" if the line names only the tool.
func (c *Call) shown() string {
	if !strings.ContainsAny(c.Command(), " \n") {
		return ""
	}
	return shortCommand(fromCheck(c.Command()))
}

// quietSince reports whether a result without a status means that the run succeeded,
// judged by the results of this part and the statuses in the previous summary.
func (h *History) quietSince() bool {
	failed, zero := false, false
	h.eachCall(func(_ *Step, c *Call) {
		failed, zero = failed || c.Exit > 0, zero || c.Exit == 0
	})
	h.Previous.all(func(lines []string) []string {
		for _, l := range lines {
			failed, zero = failed || strings.Contains(l, " failed (exit "), zero || strings.Contains(l, "(exit 0)")
		}
		return lines
	})
	return failed && !zero
}

// folders returns the folders to which commands change first.
func (h *History) folders() []string {
	var out []string
	h.eachCall(func(_ *Step, c *Call) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(c.Command()), "cd "); ok {
			dir, _, _ := strings.Cut(rest, "&&")
			if dir = strings.TrimSuffix(strings.TrimSpace(dir), "/"); !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		}
	})
	return out
}

// withoutStep returns a line of the log without the citation at its beginning.
func withoutStep(line string) string {
	if !strings.HasPrefix(line, "[s") {
		return line
	}
	_, rest, _ := strings.Cut(line, "] ")
	return rest
}

// settledLine reports whether a line about a failure also states its later end.
func settledLine(line string) bool {
	return prose.HasAny(line, []string{" in the end [s", " later [s"})
}

// settledSuffix returns a function that returns, for a line about a failure, a suffix with
// the later run that settled the failure; "" if no run settled it.
func settledSuffix(settled map[string]pass) func(line string) string {
	return func(line string) string {
		end := settled[subject(withoutStep(line))]
		if end.step == 0 || !strings.Contains(line, " failed") || settledLine(line) {
			return ""
		}
		return "; " + end.how + " later " + stepID(end.step)
	}
}
