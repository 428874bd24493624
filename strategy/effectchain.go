package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// effectsIn returns the number of parts of the call's command that change something.
func (c *Call) effectsIn() int {
	return len(effects.Parts(c.Command()))
}

// An effect is a call that changed something outside.
type effect struct {
	call    *Call
	step    int
	kind    string // kind of the command, "" for a tool
	repeats string // the command, if it is one that sessions run again and again
	others  int    // number of further effects of the same kind in the step
	before  []int  // steps of earlier effects of the same kind that have no line
}

// takes counts next with e if both are of the same kind and step, and reports whether it
// did. So six replies to comments share one line.
func (e *effect) takes(next *effect) bool {
	if e.kind == "" || e.kind != next.kind || e.step != next.step || e.repeats != "" || e.call.Command() == next.call.Command() {
		return false
	}
	e.others += 1 + next.call.hidden()
	return true
}

// mostOfGroup is the maximum number of effects of one group that have lines of their own.
// If a session created 30 issues, the summary names the last ones and states the number
// of the others.
const mostOfGroup = 3

// foldGroups removes the oldest effects of each group with more than mostOfGroup
// effects. The oldest effect that stays counts them.
func foldGroups(all []effect) []effect {
	left := map[string]int{}
	for i := range all {
		left[all[i].group()]++
	}
	folded := map[string][]int{} // by group, the steps of the effects that were removed
	out := all[:0]
	for _, e := range all {
		group := e.group()
		if left[group]--; group != "" && e.repeats == "" {
			if left[group] >= mostOfGroup {
				folded[group] = append(folded[group], e.step)
				continue
			}
			e.before, folded[group] = folded[group], nil
		}
		out = append(out, e)
	}
	return out
}

// group returns the kind of an effect in effects.Commands, and the program of another
// command, because programs such as trackers are used again and again. It is "" for a tool.
func (e *effect) group() string {
	if e.kind == "" || prose.BeginsAny(e.kind, effects.Commands) || e.kind == "gh api" || e.kind == "curl" {
		return e.kind
	}
	program, _, _ := strings.Cut(e.kind, " ")
	return program
}

// tell describes the effect, with the number of other effects that share its line.
func (e *effect) tell() string {
	text := e.call.tell()
	if n := len(e.before); n > 0 {
		text += "; earlier also " + itoa(n) + plural(n, " `"+e.group()+"` command") + " " + span(e.before[0], e.before[n-1])
	}
	if e.others == 0 {
		return text
	}
	shown := e.call.name() + e.call.more()
	return strings.Replace(text, shown, e.call.name()+moreOf(e.call.hidden()+e.others, e.kind), 1)
}

// effectKind returns the kind of the first effect of a command, "" if it has no effect.
func (c *Call) effectKind() string {
	if parts := effects.Parts(c.Command()); len(parts) > 0 {
		return effects.Kind(parts[0])
	}
	return ""
}

// more describes the number of effects that a line about a command does not show, such as
// ten of eleven replies in one command. It counts only effects of the same kind as the
// first effect, and returns "" if there are none.
func (c *Call) more() string { return moreOf(c.hidden(), c.effectKind()) }

func moreOf(n int, kind string) string {
	if n == 0 {
		return ""
	}
	return " and " + itoa(n) + " more `" + kind + "`"
}

// hidden returns the number of effects of a command that its line does not show. Only
// effects of the same kind as the first effect count.
func (c *Call) hidden() (n int) {
	parts := effects.Parts(c.Command())
	if len(parts) < 2 || strings.Contains(c.Command(), "||") || !strings.HasSuffix(c.name(), "…`") {
		return 0
	}
	for _, p := range parts[1:] {
		if effects.Kind(p) == effects.Kind(parts[0]) {
			n++
		}
	}
	return n
}

// statements matches a statement of SQL that changes rows, tables or rights.
var statements = lazy.Compile(`(?i)^\s*(?:insert\s+into|update\s+\S+\s+set|delete\s+from|merge\s+into|truncate\s|(?:alter|drop|create|grant|revoke)\s+\S+\s)`)

// mutates reports whether a call sends a GraphQL mutation, or a statement of SQL that changes
// something.
func (c *Call) mutates() bool {
	if cmd := c.Command(); cmd != "" {
		cmd = cmd[:min(len(cmd), shell.MaxLine)]
		return strings.Contains(strings.ToLower(cmd), "graphql") && effects.Mutations.MatchString(cmd)
	}
	for _, a := range c.Args {
		if (a.Name == "query" || a.Name == "sql" || a.Name == "statement") && statements.MatchString(a.Value[:min(len(a.Value), edge)]) {
			return true
		}
		if a.Name == "query" || a.Name == "document" || a.Name == "mutation" {
			word := strings.TrimSpace(a.Value)
			if rest, ok := strings.CutPrefix(word, "mutation"); ok && (rest == "" || !prose.IsWordByte(rest[0])) {
				return true
			}
		}
	}
	return false
}

// plural adds an s to a noun for a number other than one.
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
