package s3

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// slowest is the transfer rate below which an attempt counts as stuck.
	slowest = 256 << 10 // bytes a second
	// attemptTimeout limits one attempt, in addition to the time for its bytes
	// at the slowest rate. A longer attempt is ended and retried.
	attemptTimeout = 15 * time.Second

	firstWait, longestWait = 50 * time.Millisecond, 5 * time.Second
)

// transfer returns the maximum time for the transfer of size bytes.
func transfer(size int64) time.Duration {
	return time.Duration(size) * time.Second / slowest
}

// do calls the function what until it succeeds, fails permanently, or the time is up.
// size is the number of bytes that an attempt transfers. It returns the error of the
// last attempt, joined with the error of ctx if ctx is done.
func (a *Archive) do(ctx context.Context, size int64, what func(context.Context) error) error {
	started := time.Now()
	mine := started.Add(a.cfg.Timeout + transfer(size))
	limit, cancel := context.WithDeadline(ctx, mine)
	defer cancel()
	for attempt := 1; ; attempt++ {
		try, stop := context.WithTimeout(limit, attemptTimeout+transfer(size))
		err := named(what(try))
		stop()
		if err == nil {
			return nil
		}
		if !isTransient(err) && ctx.Err() == nil {
			return err
		}
		if ctx.Err() == nil && pause(limit, attempt) {
			continue
		}
		err = &UnreachableError{a.server(err), attempt, time.Since(started), err}
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		if theirs, ok := ctx.Deadline(); ok && theirs.Before(mine) {
			return fmt.Errorf("%w: %w", context.DeadlineExceeded, err) // no time for another attempt
		}
		return err
	}
}

// pause waits before the next attempt, with exponential backoff and jitter. It
// returns false if ctx ends before.
func pause(ctx context.Context, attempt int) bool {
	most := min(firstWait<<min(attempt-1, 10), longestWait)
	wait := most/2 + rand.N(most/2)
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
