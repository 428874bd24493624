package compact

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/trace"
)

// newPlaces returns the places of compactions that compute. One core, where there
// are two, is left to the calls that compact nothing: hundreds of sessions that are
// compacted at once would stand before these else, and each would be as late as the
// last of them.
func newPlaces() *ctxlock.Slots { return ctxlock.NewSlots(runtime.GOMAXPROCS(0) - 1) }

// desk is the place of one run among the compactions that compute. It is given
// back while anything is waited for: a model, the archive, a lock. One goroutine
// takes it, any may give it back.
type desk struct {
	m      *CompactManager
	queued time.Duration // what it was waited for

	mu   sync.Mutex
	held bool
}

// take waits for a place, unless it is held already.
func (d *desk) take(ctx context.Context) error {
	if d.hold(false) {
		return nil
	}
	began := d.m.now()
	err := d.m.places.Take(ctx)
	d.queued += d.m.now().Sub(began)
	if err == nil {
		d.hold(true)
	}
	return err
}

// seat waits for a place. Where the view fits as it is a compaction that nobody asked
// for waits until the deadline is near; late says that there was none by then. A body
// that is too large does not fit, but one that no compaction made small enough before.
func (c *call) seat(ctx context.Context, d *desk) (late bool, err error) {
	until := c.until(ctx)
	if until.IsZero() || c.q.manual || c.bound() > c.budget.Cap || c.tooLarge() && !c.lane.tooLarge {
		return false, d.take(ctx)
	}
	bounded, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	err = d.take(bounded)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// standing ends a call that got no place: with the view as it is where that fits.
func (c *call) standing(started time.Time, err error) error {
	if err != nil {
		return err
	}
	c.res.Reason = trace.ReasonBusy
	c.res.Warnings = append(c.res.Warnings, "so many sessions are compacted at once that the deadline came near before it was this one's turn: the view fits as it is; the next call tries again")
	c.keepView(c.now.conv)
	c.emitDecision(started, nil)
	return nil
}

// hold reports whether the place is held, or makes it so.
func (d *desk) hold(now bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = d.held || now
	return d.held
}

// give gives the place back, and reports whether it was held.
func (d *desk) give() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.held {
		return false
	}
	d.held = false
	d.m.places.Give()
	return true
}

// waiting runs f, which waits for something, without the place.
func (d *desk) waiting(ctx context.Context, f func()) {
	if d.give() {
		defer func() { _ = d.take(ctx) }() // a context that has ended ends the engine, too
	}
	f()
}

// compute runs what waits for nobody, at a place.
func (m *CompactManager) compute(ctx context.Context, f func() error) error {
	if err := m.places.Take(ctx); err != nil {
		return err
	}
	defer m.places.Give()
	return f()
}

// computeNow runs what waits for nobody while a lock is held that others wait for:
// at a place if one is free, and else without one. All of a session would else wait
// for the compactions of others.
func (m *CompactManager) computeNow(f func() error) error {
	if m.places.TryTake() {
		defer m.places.Give()
	}
	return f()
}
