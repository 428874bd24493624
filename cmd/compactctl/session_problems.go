package main

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/replay"
)

// problemsOf counts the errors of a session. Errors with a fallback are counted
// separately.
func problemsOf(x *replay.Account) string {
	errors, over := x.Problems()
	text := things(errors, "error")
	if over > 0 {
		text += fmt.Sprintf(", %d recovered", over)
	}
	return text
}

// problemKind is a kind of error, and the action that was taken instead.
type problemKind struct{ what, instead string }

func kindOf(p *replay.AccountProblem) problemKind {
	k := problemKind{what: p.Type}
	if p.GotOver() {
		k.instead = p.Fallback
	}
	return k
}

func (k problemKind) String() string {
	if k.instead != "" {
		return "recovered (" + k.instead + ")"
	}
	return "error"
}

// problemLines lists how often each kind of error occurred, and the errors with their
// times.
func problemLines(all []replay.AccountProblem, agents bool) string {
	var kinds []problemKind
	of := map[problemKind][]replay.AccountProblem{}
	for i := range all {
		k := kindOf(&all[i])
		if of[k] == nil {
			kinds = append(kinds, k)
		}
		of[k] = append(of[k], all[i])
	}
	var b strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&b, "%s: %d × %s\n%s", oneLine(k.String()), len(of[k]), oneLine(k.what), textLines(of[k], agents))
	}
	return b.String()
}

// mostTexts limits the texts of one kind of error in a report.
const mostTexts = 5

// textLines returns a line for each text, with the time of its first occurrence and
// the number of occurrences.
func textLines(all []replay.AccountProblem, agents bool) string {
	type said struct{ agent, text string }
	var texts []said
	first, times := map[said]int{}, map[said]int{}
	for i := range all {
		s := said{text: all[i].Message}
		if agents {
			s.agent = all[i].Agent
		}
		if times[s]++; times[s] == 1 {
			texts, first[s] = append(texts, s), i
		}
	}
	var b strings.Builder
	for _, s := range texts[:min(len(texts), mostTexts)] {
		about := []string{stamp(all[first[s]].At)}
		if s.agent != "" {
			about = append(about, "agent "+oneLine(s.agent))
		}
		if n := times[s]; n > 1 {
			about = append(about, fmt.Sprintf("%d ×", n))
		}
		fmt.Fprintf(&b, "  %s: %s\n", strings.Join(about, ", "), oneLine(s.text))
	}
	if more := len(texts) - mostTexts; more > 0 {
		fmt.Fprintf(&b, "  and %s: --json has all\n", things(more, "other text"))
	}
	return b.String()
}
