package compact

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/strategy"
)

// A cold provider cache does not count as a failure of the model, which was not
// asked.
func TestAgentsOwnModelStaysEnabledAfterAColdCache(t *testing.T) {
	failed := func(detail error) error {
		return &strategy.WriteError{Errors: []error{&strategy.Failure{Reason: strategy.ErrRejected, Detail: detail}}}
	}
	a := new(agentState)
	for range 2 * mostFailed {
		a.ended(failed(errCold))
	}
	if a.givenUp() || len(a.warnings()) > 0 {
		t.Error("it is disabled although no call used it")
	}
	for range mostFailed {
		a.ended(failed(nil))
	}
	if !a.givenUp() {
		t.Error("it is asked still")
	}
}

// A caller who pays for whole prompts instead of cached ones gets one warning
// with the reason.
func TestAgentsOwnModelIsDisabledWithAReason(t *testing.T) {
	for want, use := range map[string]func(*agentState){
		"does not say what of its prompt was read": func(a *agentState) { a.answered(strategy.Draft{PromptTokens: 9}) },
		"nothing of its prompt was read":           func(a *agentState) { a.answered(strategy.Draft{PromptTokens: 9, CacheKnown: true}) },
		"has not written the last summaries": func(a *agentState) {
			for range mostFailed {
				a.ended(strategy.ErrRejected)
			}
		},
	} {
		a := new(agentState)
		a.answered(strategy.Draft{PromptTokens: 9, CacheKnown: true, CachedTokens: 8})
		a.ended(strategy.ErrRejected)
		a.ended(nil)
		a.ended(strategy.ErrTransient)
		if a.givenUp() {
			t.Fatalf("%s: it is given up too early", want)
		}
		use(a)
		use(a)
		if all := a.warnings(); !a.givenUp() || len(all) != 1 || !strings.Contains(all[0], want) {
			t.Errorf("%s: given up %v, told %q", want, a.givenUp(), all)
		}
	}
}
