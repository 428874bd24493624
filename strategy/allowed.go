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

// allowances returns the sentences in which the user allows a failure.
func (h *History) allowances() []allowance {
	var out []allowance
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

// allowed returns, as a suffix, the sentence in which the user allows the failure of a call. It
// has a name from the call's output.
func (h *History) allowed(c *Call) string {
	for _, a := range h.allowances() {
		if namesOf(a.text, c.Result) {
			return userAllowed + "“" + prose.Clip(prose.Squash(a.text), remarkWords) + "” " + stepID(a.step)
		}
	}
	return ""
}

// excused returns, as a suffix, a sentence about a failure that is no work: it has another cause,
// the user allows it, or it is gone.
func (h *History) excused(by blamed, step int, c *Call) string {
	return cmp.Or(by.of(step, c), h.allowed(c), h.passedLater(step))
}

// allPass are phrases of sentences that say that no test fails any more.
var allPass = []string{"all tests pass", "all the tests pass", "all tests now pass", "all tests are passing", "all tests are green", "all checks pass", "every test passes", "alle tests laufen", "alle tests sind grün"}

// saysAllPass reports whether a sentence states that all tests pass.
func saysAllPass(t string) bool {
	low := strings.ToLower(t)
	return prose.HasAny(low, allPass) && !strings.HasSuffix(t, "?") && !leads(t) && !announces(t) &&
		!prose.HasAny(low, []string{"not all", "if ", "whether ", "sure", "ensure", "verif", "check that", "check whether", "until ", "once ", "when ", "should ", "must "})
}

// passedLater returns, as a suffix, the last sentence after a step in which the assistant says that
// all tests pass.
func (h *History) passedLater(step int) (said string) {
	for i := range h.Steps {
		if s := &h.Steps[i]; s.ID > step && s.Role == message.RoleAssistant && !s.recap() {
			prose.Sentences(s.Text, func(t string, heading bool) {
				if !heading && saysAllPass(t) {
					said = saidLater + "“" + prose.Clip(prose.Squash(t), remarkWords) + "” " + stepID(s.ID)
				}
			})
		}
	}
	return said
}
