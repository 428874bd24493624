package summarize

import (
	"errors"
	"fmt"
)

// Reasons of a writer for a missing or refused draft, in addition to the reasons in
// package strategy. A *[strategy.Failure] wraps one of them.
var (
	ErrTooLong    = errors.New("the answer is longer than the limit")
	ErrNotSmaller = errors.New("the answer is not smaller than the messages that it replaces")
	ErrDeadline   = errors.New("the time for the summary is over")
)

// ErrNoSummary is wrapped by the error of a [Writer] without a summary.
var ErrNoSummary = errors.New("strategy: no summary")

// A WriteError is returned when every attempt failed.
type WriteError struct {
	Strategy string
	Attempts int
	Errors   []error // errors of the attempts, first to last
}

func (e *WriteError) Error() string {
	last := "nothing was tried"
	if n := len(e.Errors); n > 0 {
		last = e.Errors[n-1].Error()
	}
	return fmt.Sprintf("strategy: no %s summary after %d attempts: %s", e.Strategy, e.Attempts, last)
}

// Unwrap returns ErrNoSummary and the errors of the attempts.
func (e *WriteError) Unwrap() []error { return append([]error{ErrNoSummary}, e.Errors...) }
