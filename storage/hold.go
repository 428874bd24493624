package storage

import (
	"context"
	"time"

	"github.com/agentcompact/compact/redact"
)

// ActAs says who holds, releases and erases from now on. It is kept with the
// reason: in the manifest, the tombstone and the heads. Call it before any of them.
func (s *Session) ActAs(who redact.Text) { s.who = who }

// Hold puts the session under a legal hold: [Prune] and [Session.Erase] leave
// it alone until [Session.Release]. Whoever began to erase it was first:
// [ErrErased]. The reason is kept in the manifest.
//
// The hold is in force where the error is a [*HeadError] alone: then its head
// could not be written.
func (s *Session) Hold(ctx context.Context, reason redact.Text) error {
	return s.recordHold(ctx, opHold, reason)
}

// Release ends a legal hold. Without one it only leaves its line in the
// manifest. Errors are those of Hold.
func (s *Session) Release(ctx context.Context, reason redact.Text) error {
	return s.recordHold(ctx, opRelease, reason)
}

func (s *Session) recordHold(ctx context.Context, op string, reason redact.Text) error {
	rec := record{Op: op, At: time.Now(), Reason: reason.String(), Who: s.who.String()}
	_, err := s.manifest.append(ctx, func(f facts) ([]string, error) {
		if f.erasing {
			return nil, ErrErased
		}
		return bodies([]record{rec}), nil
	})
	if err != nil {
		return err
	}
	s.settle([]record{rec})
	if err := s.tell(ctx, head{Op: op, Who: s.who.String(), Why: reason.String()}); err != nil {
		return &HeadError{op, err}
	}
	return nil
}

// Held reports whether the session is under a legal hold now, and why.
func (s *Session) Held(ctx context.Context) (held bool, reason string, err error) {
	t, err := s.manifest.refresh(ctx)
	return t.facts.held, t.facts.reason, err
}

// HeadError says that something was done, and that its head could not be written:
// nobody can prove it from the heads.
type HeadError struct {
	Op  string // "hold", "release"
	Err error
}

// Error says what was done.
func (e *HeadError) Error() string {
	return "storage: " + e.Op + " is in force, but its head was not written: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *HeadError) Unwrap() error { return e.Err }
