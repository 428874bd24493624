package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The sentinel errors of this package, wrapped in an [*Error]; compare with
// errors.Is.
var (
	// ErrExists: the key exists already. For a ledger it means that another
	// process has committed the step.
	ErrExists = errors.New("already exists")
	// ErrNotExist: the key does not exist.
	ErrNotExist = errors.New("does not exist")
	// ErrSeq: the key does not have the expected length, as another process has
	// appended.
	ErrSeq = errors.New("length is not the expected one")
	// ErrStep: a step cannot be committed because the step before is not
	// committed, or because nothing was archived for it.
	ErrStep = errors.New("step cannot be committed")
	// ErrLine: a line of a log or a transcript is not a valid line.
	ErrLine = errors.New("not a line of JSON")
	// ErrDamaged: a log is shorter than the data written to it, or is not a
	// readable log.
	ErrDamaged = errors.New("damaged")
	// ErrErased: the session was erased, or is being erased.
	ErrErased = errors.New("erased")
	// ErrScrubbed: the session was scrubbed after it was opened, so this Session
	// may have outdated information about its files. Open it again.
	ErrScrubbed = errors.New("scrubbed since it was opened")
	// ErrUnplaced: a scrub of the session was interrupted, or is in progress.
	// [Session.EndScrub] completes it.
	ErrUnplaced = errors.New("a scrub of it was cut short or is under way")
	// ErrHeld: the session is under a legal hold and cannot be removed.
	ErrHeld = errors.New("under a legal hold")
	// ErrLocked: the backend itself forbids the removal for now. The error may
	// be a [*LockedError].
	ErrLocked = errors.New("kept by a lock")
	// ErrNoIdentity: the data is encrypted, and this process has no identity to
	// decrypt it. Whether it was changed is unknown.
	ErrNoIdentity = errors.New("encrypted, and nothing here can read it")
	// ErrUnsupported: the archive does not support the operation.
	ErrUnsupported = errors.ErrUnsupported
)

// An Error is a failed operation of an archive or a session, with its key and
// its cause. Err may be a sentinel error, a context error, or an error of the
// system below.
type Error struct {
	Op  string // "create", "append", "open", "list", "remove", "commit", …
	Key Key    // may be the zero Key
	Err error
}

// Error returns one line with operation, key and cause.
func (e *Error) Error() string {
	if e.Key.IsZero() {
		return fmt.Sprintf("storage: %s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("storage: %s %s: %v", e.Op, e.Key, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A LockedError says until when the backend forbids the removal of a key. It is
// [ErrLocked].
type LockedError struct {
	By    string    // the mechanism, such as "Object Lock"
	Until time.Time // zero: until somebody lifts it
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

// Begin is the first call of each method of an [Archive], [Remover] or
// [Keeper], except List, which accepts the zero Key. It returns an [*Error] if
// the context is done or the Key is zero.
func Begin(ctx context.Context, op string, k Key) error {
	err := ctx.Err()
	if err == nil && k.IsZero() {
		err = &KeyError{Reason: "it is empty"}
	}
	return Wrap(op, k, err)
}

// Wrap returns err as an [*Error], nil for nil. An err that is or wraps an
// *Error is returned unchanged, so that the innermost operation is named.
func Wrap(op string, k Key, err error) error {
	var have *Error
	if err == nil || errors.As(err, &have) {
		return err
	}
	return &Error{Op: op, Key: k, Err: err}
}
