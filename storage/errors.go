package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Sentinels for the decisions that a caller can take. They are wrapped in an
// [*Error]; compare with errors.Is.
var (
	// ErrExists: the key holds something already. For the ledger of a step
	// it means that another process has committed the step.
	ErrExists = errors.New("already exists")
	// ErrNotExist: the key holds nothing.
	ErrNotExist = errors.New("does not exist")
	// ErrSeq: the key does not hold as many bytes as the caller thought;
	// somebody else has appended.
	ErrSeq = errors.New("length is not the expected one")
	// ErrStep: a step cannot be committed because the step before it is
	// not, or because nothing was archived for it.
	ErrStep = errors.New("step cannot be committed")
	// ErrLine: a line of a log or a transcript is not what a line must be.
	ErrLine = errors.New("not a line of JSON")
	// ErrDamaged: a log is shorter than what was written to it, or cannot
	// be read as the log that it should be.
	ErrDamaged = errors.New("damaged")
	// ErrErased: the session was erased, or is being erased.
	ErrErased = errors.New("erased")
	// ErrScrubbed: the session was scrubbed since it was opened, so that what this
	// Session knows of its files may not be so any more. Open it again.
	ErrScrubbed = errors.New("scrubbed since it was opened")
	// ErrUnplaced: a scrub of the session was cut short, or is under way.
	// [Session.EndScrub] ends it.
	ErrUnplaced = errors.New("a scrub of it was cut short or is under way")
	// ErrHeld: the session is under a legal hold and cannot be removed.
	ErrHeld = errors.New("under a legal hold")
	// ErrLocked: the place itself keeps the key for now, whoever asks. The
	// error can be a [*LockedError].
	ErrLocked = errors.New("kept by a lock")
	// ErrNoIdentity: what is there is encrypted, and this process has nothing to
	// read it with. It says nothing of whether it was changed.
	ErrNoIdentity = errors.New("encrypted, and nothing here can read it")
	// ErrUnsupported: the archive cannot do this at all.
	ErrUnsupported = errors.ErrUnsupported
)

// Error is what an archive or a session returns: what was tried, on which
// key, and why it did not work. Err may be one of the sentinels, a context
// error, or whatever the system below said.
type Error struct {
	Op  string // "create", "append", "open", "list", "remove", "commit", …
	Key Key    // may be the zero Key
	Err error
}

// Error says everything in one line.
func (e *Error) Error() string {
	if e.Key.IsZero() {
		return fmt.Sprintf("storage: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("storage: %s %s: %v", e.Op, e.Key, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// LockedError says until when the place keeps a key. It is [ErrLocked].
type LockedError struct {
	By    string    // what keeps it, such as "Object Lock"
	Until time.Time // the zero time: until somebody lifts it
}

// Error says until when.
func (e *LockedError) Error() string {
	if e.Until.IsZero() {
		return e.By + " keeps it until somebody lifts that"
	}
	return e.By + " keeps it until " + e.Until.UTC().Format(time.RFC3339)
}

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// Begin is what each method of an [Archive], [Remover] or [Keeper] does first,
// but for List, which is good for the zero Key: it returns the [*Error] of a
// context that is done or of the zero Key, nil when op may go on.
func Begin(ctx context.Context, op string, k Key) error {
	err := ctx.Err()
	if err == nil && k.IsZero() {
		err = &KeyError{Reason: "it is empty"}
	}
	return Wrap(op, k, err)
}

// Wrap makes an [*Error] of err, nil of nil. What is or wraps an *Error already
// stays as it is, so that the innermost operation is the one that is named.
func Wrap(op string, k Key, err error) error {
	var have *Error
	if err == nil || errors.As(err, &have) {
		return err
	}
	return &Error{Op: op, Key: k, Err: err}
}
