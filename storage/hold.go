package storage

import (
	"context"
	"time"

	"github.com/agentcompact/compact/redact"
)

// Hold puts the session under a legal hold: [Prune] and [Session.Erase] leave
// it alone until [Session.Release]. Whoever began to erase it was first:
// [ErrErased]. The reason is kept in the manifest.
func (s *Session) Hold(ctx context.Context, reason redact.Text) error {
	return s.record(ctx, record{Op: opHold, At: time.Now(), Reason: reason.String()})
}

// Release ends a legal hold. Without one it only leaves its line in the
// manifest.
func (s *Session) Release(ctx context.Context, reason redact.Text) error {
	return s.record(ctx, record{Op: opRelease, At: time.Now(), Reason: reason.String()})
}

// Held reports whether the session is under a legal hold now, and why.
func (s *Session) Held(ctx context.Context) (held bool, reason string, err error) {
	t, err := s.manifest.refresh(ctx)
	return t.facts.held, t.facts.reason, err
}
