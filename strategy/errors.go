package strategy

import (
	"errors"
	"fmt"
	"time"
)

// Reasons for a missing or refused draft. A *[Failure] wraps one of them.
var (
	ErrEmpty         = errors.New("the answer is empty")
	ErrRefused       = errors.New("the model refused")
	ErrUnusable      = errors.New("the answer is not a usable summary") // Failure.Detail holds the cause
	ErrFiltered      = errors.New("the answer was withheld by a content filter")
	ErrCutOff        = errors.New("the answer was cut off at its limit")
	ErrContextLength = errors.New("the request does not fit the summarizer's window")
	ErrMalformed     = errors.New("the answer can't be read")
	ErrTransient     = errors.New("the server can't be reached or is overloaded")
	ErrRejected      = errors.New("the server rejects the request")
)

// A Failure is the error of one attempt that produced no usable draft.
type Failure struct {
	Reason     error         // one of the sentinels of this package
	Status     int           // HTTP status; 0 = none
	RetryAfter time.Duration // delay that the server asked for; 0 = none
	Detail     error         // the underlying error; may be nil
}

func (f *Failure) Error() string {
	s := f.Reason.Error()
	if f.Status != 0 {
		s = fmt.Sprintf("%s (status %d)", s, f.Status)
	}
	if f.Detail != nil {
		s += ": " + f.Detail.Error()
	}
	return s
}

// Unwrap returns the reason and the detail.
func (f *Failure) Unwrap() []error {
	if f.Detail == nil {
		return []error{f.Reason}
	}
	return []error{f.Reason, f.Detail}
}
