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
	// ErrExists means that the key exists already.
	ErrExists = errors.New("already exists")
	// ErrNotExist means that the key does not exist.
	ErrNotExist = errors.New("does not exist")
	// ErrSeq means that the key does not have the expected length, because another process
	// has appended to it.
	ErrSeq = errors.New("length is not the expected one")
	// ErrDamaged means that a log is shorter than the data written to it, or is not a
	// readable log.
	ErrDamaged = errors.New("damaged")
	// ErrChanged means that a file differs from the stored one. The error is a
	// [*ChangedError]. The file is left unchanged as evidence.
	ErrChanged = errors.New("the stored data was changed")
	// ErrLocked means that the backend itself forbids the removal for now. The error may
	// be a [*LockedError].
	ErrLocked = errors.New("kept by a lock")
	// ErrNoIdentity means that the data is encrypted, and this process has no identity to
	// decrypt it. Whether it was changed is unknown.
	ErrNoIdentity = errors.New("encrypted, and this process has no identity that can read it")
	// ErrUnreachable means that only the remote archive has the answer, and that it can't be
	// reached. An archive that continues without its remote archive, such as a spool on
	// disk, returns this error.
	ErrUnreachable = errors.New("the remote archive can't be reached")
	// ErrUnsupported means that the archive does not support the operation.
	ErrUnsupported = errors.ErrUnsupported
)

// An Error is a failed operation of an archive or a session, with its key and
// its cause. Err may be a sentinel error, a context error, or an error of the
// system below.
type Error struct {
	Op  string // "create", "append", "open", "list", "remove", "commit", …
	Key Key    // key of the operation; may be the zero Key
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

// A LockedError holds the time until which the backend forbids the removal of a key. It is
// [ErrLocked].
type LockedError struct {
	By    string    // the mechanism, such as "Object Lock"
	Until time.Time // zero = until the lock is removed
}

// Error names the time until which the key is locked.
func (e *LockedError) Error() string {
	if e.Until.IsZero() {
		return e.By + " keeps it until the lock is removed"
	}
	return e.By + " keeps it until " + e.Until.UTC().Format(time.RFC3339)
}

// Is makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// A ChangedError reports a file of a session, or a piece of it, that differs
// from its record in the manifest or a ledger. It is [ErrChanged].
type ChangedError struct {
	File string // name in the session's folder
	Want string // SHA-256 of the stored file, in lower-case hex; "" if unknown
	Have string // SHA-256 of the present file; "" if it is missing or too large to hash
	// Detail describes a difference without hashes, such as "it is missing".
	Detail string
}

// Error names the file and the hashes.
func (e *ChangedError) Error() string {
	text := e.File + " was changed since it was stored, and is not used"
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Have != "" {
		text += "; SHA-256 now " + e.Have
	}
	if e.Want != "" {
		text += "; SHA-256 stored " + e.Want
	}
	return text
}

// Is makes errors.Is(err, ErrChanged) true.
func (e *ChangedError) Is(target error) bool { return target == ErrChanged }

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
// *Error is returned unchanged, so that the error names the innermost
// operation.
func Wrap(op string, k Key, err error) error {
	var have *Error
	if err == nil || errors.As(err, &have) {
		return err
	}
	return &Error{Op: op, Key: k, Err: err}
}
