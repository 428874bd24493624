package spool

import "context"

// Evict takes off the disk what is old, as the background does now and then.
func (s *Spool) Evict(ctx context.Context) error { return s.evict(ctx, s.opts.Keep) }

// Stored returns what an archive holds.
var Stored = stored
