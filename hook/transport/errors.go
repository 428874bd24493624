package transport

import (
	"errors"
	"fmt"
)

// ErrTooLarge: the body is larger than [MaxBody].
var ErrTooLarge = errors.New("the body is too large to be read (see MaxBody)")

// An Error says what kept a model call from being compacted. Op is "read" (its
// body), "parse", "compact", "write" or "overflow" (the provider's "context too
// long" could not be answered by a compaction).
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
