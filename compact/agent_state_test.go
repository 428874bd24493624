package compact

import (
	"testing"

	"github.com/agentcompact/compact/strategy"
)

// That the provider's cache was cold says nothing of the model, which was not
// asked.
func TestAgentsOwnModelIsNotGivenUpForACold(t *testing.T) {
	failed := func(detail error) error {
		return &strategy.WriteError{Errors: []error{&strategy.Failure{Reason: strategy.ErrRejected, Detail: detail}}}
	}
	a := new(agentState)
	for range 2 * mostFailed {
		a.ended(failed(errCold))
	}
	if a.givenUp() || len(a.warnings()) > 0 {
		t.Error("it is given up though nobody asked it")
	}
	for range mostFailed {
		a.ended(failed(nil))
	}
	if !a.givenUp() {
		t.Error("it is asked still")
	}
}
