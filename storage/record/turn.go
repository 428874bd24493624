package record

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// lease is the time for which one process alone may remove files of a session, unless
// it renews its turn. It applies to a scrub and to an erase.
const lease = 20 * time.Second

// often is the time between two checks whether another process has finished.
const often = 50 * time.Millisecond

// turn is the right of one process to remove files of a session. The manifest records it,
// because a late process must not remove a file that was already replaced: a log that has
// grown since, or a file of a session that began after an erase.
type turn struct {
	me      string
	lease   time.Duration
	claimed time.Time // by this process's clock

	other string    // another process that has the turn
	since time.Time // time of the first read that showed the record, by this process's clock
}

// holder is the process that has the turn, according to a line of the manifest.
type holder struct {
	by    string // "" = unknown, as in version 0.1.0
	at    time.Time
	lease time.Duration
}

func holderOf(r record) holder {
	return holder{r.By, r.At, time.Duration(r.Lease) * time.Millisecond}
}

// is reports whether both are the same process in the same turn.
func (h holder) is(o holder) bool { return h.by == o.by && h.at.Equal(o.at) && h.lease == o.lease }

// record adds the turn to a line of the manifest.
func (t *turn) record(r record) record {
	r.By, r.Lease = t.me, t.lease.Milliseconds()
	return r
}

// late reports whether the turn must be renewed.
func (t *turn) late() bool { return elapsed(t.claimed) > t.lease/4 }

// elapsed returns the time since t. It also compares the wall clock, because the monotonic
// one stands still while the machine is suspended.
func elapsed(t time.Time) time.Duration {
	now := time.Now()
	return max(now.Sub(t), now.Round(0).Sub(t.Round(0)))
}

// over reports whether the turn of another process is over: by the time that passed since
// this process first read of it. The time in the record does not count, because either
// clock can be wrong by any amount.
func (t *turn) over(h holder) bool {
	if who := h.by + h.at.String(); who != t.other {
		t.other, t.since = who, time.Now()
	}
	return time.Since(t.since) >= h.lease
}

// wait waits briefly for another process.
func (h holder) wait(ctx context.Context) error {
	return sleep(ctx, min(often, h.lease+time.Millisecond))
}

// minRemoval is the minimum time for a removal if the lease is short.
const minRemoval = time.Second

// limit ends the context of a removal before the turn is over.
func (t *turn) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, t.claimed.Add(max(t.lease/2, minRemoval)), errSlow)
}

// within calls do with a context that ends before the turn does.
func (t *turn) within(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := t.limit(ctx)
	defer cancel()
	return tooSlow(ctx, do(ctx))
}

var errSlow = errors.New("the archive took too long for a removal, and another process may continue; try again")

// tooSlow wraps the error of a removal if the time limit of its context is the cause.
func tooSlow(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		return fmt.Errorf("%w (%w)", errSlow, err)
	}
	return err
}
