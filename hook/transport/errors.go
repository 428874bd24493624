package transport

import (
	"errors"
	"fmt"
)

var (
	// ErrTooLarge means that the body is larger than [MaxBody].
	ErrTooLarge = errors.New("the body is too large to be read (see MaxBody)")
	// ErrPassed means that the request cannot be compacted and was sent
	// unchanged. This is not a failure; it is reported once per conversation.
	ErrPassed = errors.New("passed over")

	errPanic = errors.New("panic")
)

// The values of [Error.Op].
const (
	opRead     = "read"
	opParse    = "parse"
	opCompact  = "compact"
	opWrite    = "write"
	opOverflow = "overflow"
	opPass     = "pass"
	opAnswer   = "answer"
	opRecall   = "recall"
	opObserve  = "observe"
)

// An Error is the reason why a model call was not compacted, or why an answer was not
// processed. Op is one of these:
//
//   - "read", "parse", "compact", "write": this step failed
//   - "overflow": the provider refused the request as too long, and no smaller request
//     was sent
//   - "pass": the request was not compacted on purpose (see [ErrPassed])
//   - "answer": the answer could not be decoded and was passed on unchanged
//   - "recall": a call of the recall tool could not be answered from the archive
//   - "observe": the observation failed
type Error struct {
	Op      string
	Path    string // of the request's URL
	Session string // "" before it is known
	Err     error
}

func (e *Error) Error() string {
	return fmt.Sprintf("transport: %s %s: %v", e.Op, e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// passed is the reason why a request or an answer is left unprocessed on
// purpose.
type passed struct{ what, why string }

func (p *passed) Error() string { return "passed over: " + p.what + ": " + p.why }

func (p *passed) Is(target error) bool { return target == ErrPassed }
