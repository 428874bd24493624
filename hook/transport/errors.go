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

// An Error is the reason why a model call was not compacted. Op is "read" (its
// body), "parse", "compact", "write", "overflow" (the provider's "context too
// long" could not be answered by a compaction), "pass" ([ErrPassed]), "answer"
// (it could not be decoded and was passed on unchanged), "recall" (a call of
// that tool could not be answered from the archive) or "observe" (the
// observation failed).
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

// passed is the reason why a request or an answer is not processed on purpose.
type passed struct{ what, why string }

func (p *passed) Error() string { return "passed over: " + p.what + ": " + p.why }

func (p *passed) Is(target error) bool { return target == ErrPassed }
