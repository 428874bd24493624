package spool

import (
	"context"
	"errors"
)

// Evict removes erased and old sessions from the disk, as the background does
// periodically.
func (s *Spool) Evict(ctx context.Context) error {
	return errors.Join(s.leave(ctx), s.evict(ctx, s.opts.Keep))
}

// MakeRoom removes all sent sessions from the disk, as a write to a full disk does.
func (s *Spool) MakeRoom(ctx context.Context) error { return s.evict(ctx, 0) }

// Stored returns the content of a file in an archive.
var Stored = stored

// SetSent records how much of the queue of a session was processed, in the file SentFile.
func (s *Spool) SetSent(session string, n int64) error { return s.setSent(session, n) }

// SentFile returns the path of that record.
func (s *Spool) SentFile(session string) string { return s.state(session, sentFile) }
