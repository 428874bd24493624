package spool

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrConflict: the remote archive has other bytes than the disk, so
	// nothing more of the session is sent or taken. The error is a
	// [*ConflictError].
	ErrConflict = errors.New("the remote archive has something else")
	// ErrWaiting: not all was sent. The error is a [*WaitingError].
	ErrWaiting = errors.New("not all was sent")
	// ErrClosed: the spool was closed.
	ErrClosed = errors.New("the spool is closed")
)

// A ConflictError says which session two machines wrote to. What this one wrote
// is whole in the folder Path, which can be read and verified; to give it up,
// remove that folder and the session's in DIR/state while no process uses the
// spool.
type ConflictError struct {
	Session string // the folder's name
	Reason  string
	Path    string
}

// Error says all of it.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("session %s is written by somebody else, too: %s; what was written here is in %s", e.Session, e.Reason, e.Path)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Waiting is what is on the disk and not in the remote archive.
type Waiting struct {
	Dir        string   `json:"dir"`
	Sessions   int      `json:"sessions"`
	Operations int      `json:"operations"` // files to create, and additions to logs, those beside the sessions included
	Conflicts  []string `json:"conflicts,omitempty"`
}

// None reports whether everything was sent.
func (w Waiting) None() bool { return w.Operations == 0 && len(w.Conflicts) == 0 }

// A WaitingError says what is left. It is durable in the folder, and the next
// process that opens it sends it; but for conflicts.
type WaitingError struct {
	Waiting
	Err error // why; may be nil
}

// Error says how much, where, and why.
func (e *WaitingError) Error() string {
	var b strings.Builder
	if e.Operations > 0 {
		fmt.Fprintf(&b, "not sent yet: operations %d, sessions %d; they wait in %s for the next process that opens it", e.Operations, e.Sessions, e.Dir)
	}
	for _, c := range e.Conflicts {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns why.
func (e *WaitingError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrWaiting) true, and ErrConflict where there is one.
func (e *WaitingError) Is(target error) bool {
	return target == ErrWaiting || target == ErrConflict && len(e.Conflicts) > 0
}
