package strategy

import (
	"cmp"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// allowedWords are phrases of sentences that allow a failure, and expectedWords are phrases of
// sentences that expect one.
var (
	allowedWords  = []string{"may fail", "might fail", "can fail", "will fail", "allowed to fail", "known to fail", "darf fehlschlagen", "dürfen fehlschlagen"}
	expectedWords = []string{"is expected", "are expected", "expected to fail", "expected failure", "as expected", "known failure", "ist erwartet", "sind erwartet"}
)

// userAllowed is the text before an earlier sentence of the user about a failure.
const userAllowed = "; the user said: "

// An allowance is a sentence in which the user allows a failure.
type allowance struct {
	step int
	text string
}

type allowances []allowance

// allowances returns the sentences in which the user allows a failure.
func (h *History) allowances() allowances {
	var out allowances
	for i := range h.Steps {
		if s := &h.Steps[i]; s.user() {
			prose.Sentences(s.Text, func(t string, heading bool) {
				if !heading && !strings.HasSuffix(t, "?") && prose.HasAny(strings.ToLower(t), allowedWords) {
					out = append(out, allowance{s.ID, t})
				}
			})
		}
	}
	return out
}

// of returns, as a suffix, the sentence in which the user allows the failure of a call. The
// sentence has a name from the call's output.
func (all allowances) of(c *Call) string {
	for _, a := range all {
		if namesOf(a.text, c.Result) {
			return userAllowed + "“" + prose.Clip(prose.Squash(a.text), remarkWords) + "” " + stepID(a.step)
		}
	}
	return ""
}

// pardons holds the sentences about failures that need no work, because they have another
// cause, the user allows them, or they no longer occur.
type pardons struct {
	blamed     blamed
	allowances allowances
	passed     int    // number of the last step in which the assistant says that all tests pass
	saying     string // the sentence that says so, as a suffix
}

// pardons returns the sentences about failures that need no work.
func (h *History) pardons() pardons {
	e := pardons{blamed: h.blamed(), allowances: h.allowances()}
	e.passed, e.saying = h.saysPassed()
	return e
}

// of returns, as a suffix, a sentence about the failure of a call in a step.
func (e *pardons) of(step int, c *Call) string {
	if said := cmp.Or(e.blamed.of(step, c), e.allowances.of(c)); said != "" || e.passed <= step {
		return said
	}
	return e.saying
}

// allPass are phrases of sentences that say that no test fails any more.
var allPass = []string{"all tests pass", "all the tests pass", "all tests now pass", "all tests are passing", "all tests are green", "all checks pass", "every test passes", "alle tests laufen", "alle tests sind grün"}

// saysAllPass reports whether a sentence states that all tests pass.
func saysAllPass(t string) bool {
	low := strings.ToLower(t)
	return prose.HasAny(low, allPass) && !strings.HasSuffix(t, "?") && !leads(t) && !announces(t) &&
		!prose.HasAny(low, []string{"not all", "if ", "whether ", "sure", "ensure", "verif", "check that", "check whether", "until ", "once ", "when ", "should ", "must "})
}

// saysPassed returns the last sentence in which the assistant says that all tests pass, as a
// suffix, and the number of its step.
func (h *History) saysPassed() (step int, said string) {
	for i := range h.Steps {
		if s := &h.Steps[i]; s.Role == message.RoleAssistant && !s.recap() {
			prose.Sentences(s.Text, func(t string, heading bool) {
				if !heading && saysAllPass(t) {
					step, said = s.ID, saidLater+"“"+prose.Clip(prose.Squash(t), remarkWords)+"” "+stepID(s.ID)
				}
			})
		}
	}
	return step, said
}
