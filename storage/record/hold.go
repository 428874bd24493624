package record

import (
	"context"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// ActAs sets the name of the person for whom the session is held, released or erased
// from now on. The name is kept with the reason: in the manifest, the tombstone and the
// heads. Call it before Hold, Release and Erase.
func (s *Session) ActAs(who redact.Text) { s.who = who }

// Hold puts the session under a legal hold: [Prune] and [Session.Erase] don't remove it
// until [Session.Release]. The reason is kept in the manifest. Hold returns [ErrErased]
// if the erasure of the session has begun, or if the session was erased and has not
// begun again. A session without stored files can be held.
//
// A [*HeadError] means that the hold is in force, but its head could not be written.
func (s *Session) Hold(ctx context.Context, reason redact.Text) error {
	return s.recordHold(ctx, opHold, reason)
}

// Release ends a legal hold. For a session without a hold it only adds a line to the
// manifest. It returns the same errors as Hold.
func (s *Session) Release(ctx context.Context, reason redact.Text) error {
	return s.recordHold(ctx, opRelease, reason)
}

func (s *Session) recordHold(ctx context.Context, op string, reason redact.Text) error {
	if err := s.mayHold(ctx, op); err != nil {
		return err
	}
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

// mayHold returns [ErrErased] for a session that was erased and has not begun again,
// because the line of a hold would begin it.
func (s *Session) mayHold(ctx context.Context, op string) error {
	t, err := s.manifest.refresh(ctx)
	if err != nil || t.seq > 0 {
		return err
	}
	_, gone, err := erased(ctx, s.a, s.dir)
	if err == nil && gone {
		err = &storage.Error{Op: op, Key: s.dir, Err: ErrErased}
	}
	return err
}

// LegalHold is the legal hold of a session. Its zero value is no hold.
type LegalHold struct {
	Held   bool
	Since  time.Time // of the newest line of the manifest that holds the session
	Who    string    // "" if the line names nobody
	Reason string
}

// Held returns the legal hold that the session is under now.
func (s *Session) Held(ctx context.Context) (LegalHold, error) {
	t, err := s.manifest.refresh(ctx)
	return t.facts.hold, err
}

// A HeadError reports that a hold or a release is in force, but its head could not be
// written, so that the heads do not prove it.
type HeadError struct {
	Op  string // "hold", "release"
	Err error
}

// Error names the operation, and the reason why its head is missing.
func (e *HeadError) Error() string {
	return "storage: " + e.Op + " is in force, but its head was not written: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *HeadError) Unwrap() error { return e.Err }
