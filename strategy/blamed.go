package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// otherCauses lists phrases of sentences that say that the agent's work did not cause a
// failure.
var otherCauses = []string{"pre-existing", "preexisting", "unrelated", "not related to", "nothing to do with", "not from our changes", "not from my changes", "not caused by", "already failing", "already failed before", "already broken", "known flak", "is flaky", "are flaky", "also fails on main", "fail on main",
	"failed before my change", "failed before our change", "fails without my change", "fails without our change", "failed before that change", "fails without the change", "failed without my change"}

// failureWords lists words for a failure. A sentence with a phrase of otherCauses and one
// of these words is a statement about a failure.
var failureWords = []string{"fail", "error", "test", "lint", "warning", "issue", "problem", "flak", "broken"}

// saidLater is the text before a later sentence of the assistant.
const saidLater = "; said later: "

// A blame is a sentence that says that the agent's work did not cause a failure.
type blame struct {
	step  int
	text  string
	after int  // step of the last failed command before the sentence
	spoke bool // the user wrote something between the failure and the sentence
}

type blamed []blame

// blamed returns the sentences in which the assistant names other causes of failures.
func (h *History) blamed() blamed {
	var out blamed
	failed, spoke := 0, false
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.user() && s.Text != "" {
			spoke = true
		}
		if s.Role == message.RoleAssistant && !s.recap() {
			prose.Sentences(s.Text, func(t string, heading bool) {
				if !heading && blames(t) {
					out = append(out, blame{s.ID, t, failed, spoke})
				}
			})
		}
		for k := range s.Calls {
			if c := &s.Calls[k]; c.Outcome == Failed && !refusedCall(c.Result) && (c.deed() == deedCheck || c.deed() == deedRun) {
				failed, spoke = s.ID, false
			}
		}
	}
	return out
}

// blames reports whether a sentence says that something has a cause other than the
// agent's work. A sentence that only considers such a cause, or that announces a step,
// does not count.
func blames(t string) bool {
	low := strings.ToLower(t)
	other := prose.HasAny(low, otherCauses) || prose.HasAny(low, expectedWords) && prose.HasAny(low, []string{"fail", "fehl"})
	return other && !leads(t) && !announces(t) && !prose.HasAny(low, []string{" if ", "whether ", "not unrelated"})
}

// rightAfterwards is the maximum number of steps between a failure and a sentence about
// it, if the sentence names nothing from the failure's output.
const rightAfterwards = 8

// of returns, as a suffix, the sentence about the failure of a call. The sentence follows
// the failure closely, or it comes later and has a name from the call's output.
func (e blamed) of(step int, c *Call) string {
	for _, x := range e {
		if x.step <= step || refusedCall(c.Result) { // a refused call did not run
			continue
		}
		near := x.after == step && x.step <= step+rightAfterwards && (!x.spoke || prose.HasAny(strings.ToLower(x.text), failureWords))
		if near || prose.HasAny(strings.ToLower(x.text), failureWords) && namesOf(x.text, c.Result) {
			return saidLater + "“" + prose.Clip(prose.Squash(x.text), remarkWords) + "” " + stepID(x.step)
		}
	}
	return ""
}

// namesOf reports whether a sentence and an output have a name in common.
func namesOf(t, result string) (found bool) {
	identifiers(t, func(k ident.Kind, name string) {
		found = found || k != ident.Number && k != ident.Version && len(name) > 3 && strings.Contains(result, name)
	})
	return found
}
