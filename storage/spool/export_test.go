package spool

import (
	"context"
	"errors"
)

// Evict takes off the disk what was erased and what is old, as the background does now and then.
func (s *Spool) Evict(ctx context.Context) error {
	return errors.Join(s.leave(ctx), s.evict(ctx, s.opts.Keep))
}

// Stored returns what an archive holds.
var Stored = stored
