package compact

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
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
