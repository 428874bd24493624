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

// Stored returns the content of a file in an archive.
var Stored = stored
