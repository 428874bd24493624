package spool

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrConflict means that the remote archive has other bytes than the disk,
	// so nothing more of the session is sent or accepted. The error is a
	// [*ConflictError].
	ErrConflict = errors.New("the remote archive has different data")
	// ErrWaiting means that some data was not sent. The error is a [*WaitingError].
	ErrWaiting = errors.New("some files were not sent")
	// ErrClosed means that the spool was closed.
	ErrClosed = errors.New("the spool is closed")
)

// A ConflictError reports a session that two machines wrote to. This machine's
// version is complete in the folder Path, which can be read and verified. To
// discard it, remove that folder and the session's folder in DIR/state while no
// process uses the spool.
type ConflictError struct {
	Session string // name of the folder
	Reason  string
	Path    string
}

// Error returns all fields in one line.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("session %s is also written elsewhere: %s; the data written here is in %s", e.Session, e.Reason, e.Path)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// Waiting counts the data that is on the disk but not in the remote archive.
type Waiting struct {
	Dir        string   `json:"dir"`
	Sessions   int      `json:"sessions"`
	Operations int      `json:"operations"` // files to create and appends to logs, including those beside the sessions
	Conflicts  []string `json:"conflicts,omitempty"`
}

// None reports whether everything was sent.
func (w Waiting) None() bool { return w.Operations == 0 && len(w.Conflicts) == 0 }

// A WaitingError reports unsent data. The data is durable in the folder, and the next
// process that opens the folder sends it, except for conflicts.
type WaitingError struct {
	Waiting
	Err error // reason; may be nil
}

// Error returns the amount of unsent data, the folder, and the reason.
func (e *WaitingError) Error() string {
	var b strings.Builder
	if e.Operations > 0 {
		fmt.Fprintf(&b, "not sent yet: %s, %s; they wait in %s for the next process that opens it", things(e.Operations, "operation"), things(e.Sessions, "session"), e.Dir)
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

// things returns a number of things in words.
func things(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Unwrap returns the reason.
func (e *WaitingError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrWaiting) true, and errors.Is(err, ErrConflict) if
// there is a conflict.
func (e *WaitingError) Is(target error) bool {
	return target == ErrWaiting || target == ErrConflict && len(e.Conflicts) > 0
}
