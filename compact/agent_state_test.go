package compact

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/strategy"
)

// A cold provider cache does not count as a failure of the model, which was not
// asked.
func TestAgentsOwnModelStaysEnabledAfterAColdCache(t *testing.T) {
	failed := func(detail error) error {
		return &summarize.WriteError{Errors: []error{&strategy.Failure{Reason: strategy.ErrRejected, Detail: detail}}}
	}
	a := new(agentState)
	for range 2 * mostFailed {
		a.ended(failed(errCold))
	}
	if a.givenUp() || len(a.warnings()) > 0 {
		t.Error("the model is disabled although no call used it")
	}
	for range mostFailed {
		a.ended(failed(nil))
	}
	if !a.givenUp() {
		t.Error("the model is still asked")
	}
}

// A caller who pays for whole prompts instead of cached ones gets one warning
// with the reason.
func TestAgentsOwnModelIsDisabledWithAReason(t *testing.T) {
	for want, use := range map[string]func(*agentState){
		"does not report the tokens read": func(a *agentState) { a.answered(strategy.Draft{PromptTokens: 9}) },
		"no token of its prompt was read": func(a *agentState) { a.answered(strategy.Draft{PromptTokens: 9, CacheKnown: true}) },
		"its last summaries failed": func(a *agentState) {
			for range mostFailed {
				a.ended(strategy.ErrRejected)
			}
		},
	} {
		a := new(agentState)
		a.answered(strategy.Draft{PromptTokens: 9, CacheKnown: true, CachedTokens: 8})
		for range mostFailed { // failures that are not consecutive
			a.ended(strategy.ErrRejected)
			a.ended(nil)
		}
		a.ended(strategy.ErrTransient)
		if a.givenUp() {
			t.Fatalf("%s: the model is given up too early", want)
		}
		use(a)
		use(a)
		if all := a.warnings(); !a.givenUp() || len(all) != 1 || !strings.Contains(all[0], want) {
			t.Errorf("%s: given up %v, reported %q", want, a.givenUp(), all)
		}
	}
}

// Only a provider that reports the tokens read from its cache can report that there were
// none.
func TestUsageWithoutCachedTokensLeavesTheCacheUnknown(t *testing.T) {
	a := new(account)
	for range 5 {
		a.observed(observedUsage{expect: 100})
	}
	if a.uncached() {
		t.Error("uncached returns true after usages without a count of the cache")
	}
	for range 2 {
		a.observed(observedUsage{known: true, expect: 100})
	}
	if !a.uncached() {
		t.Error("uncached returns false after two usages that read nothing")
	}
	if a.observed(observedUsage{}); a.uncached() {
		t.Error("failures that are not consecutive disable the agent's model")
	}
}

// A request is repeated after a temporary failure, and not after a decision of the
// provider.
func TestFailureOfTheAgentsRequestStatesItsReason(t *testing.T) {
	for _, c := range []struct {
		err  AskError
		want error
	}{
		{AskError{}, strategy.ErrTransient}, // no response
		{AskError{Status: 408}, strategy.ErrTransient},
		{AskError{Status: 429}, strategy.ErrTransient},
		{AskError{Status: 500}, strategy.ErrTransient},
		{AskError{Status: 529}, strategy.ErrTransient},
		{AskError{Status: 200, Unreadable: true}, strategy.ErrRejected},
		{AskError{Status: 500, Unreadable: true}, strategy.ErrRejected},
		{AskError{Status: 400}, strategy.ErrRejected},
		{AskError{Status: 401}, strategy.ErrRejected},
		{AskError{Status: 400, TooLong: true}, strategy.ErrContextLength},
		{AskError{Status: 413}, strategy.ErrContextLength},
	} {
		c.err.Err = errors.New("why")
		if err := failure(&c.err); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.err, err, c.want)
		}
	}
}
