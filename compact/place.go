package compact

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
)

// newPlaces returns the slots for computing compactions: one less than the number
// of cores, but at least one. The free core serves calls without a compaction,
// which would otherwise wait behind hundreds of compactions.
func newPlaces() *ctxlock.Slots { return ctxlock.NewSlots(runtime.GOMAXPROCS(0) - 1) }

// desk is the slot of one run. It is released while the run waits for a model,
// the archive or a lock. One goroutine takes it, and any can release it.
type desk struct {
	m      *CompactManager
	queued time.Duration // time spent waiting for the slot

	mu   sync.Mutex
	held bool
}

// take waits for a slot, unless one is held.
func (d *desk) take(ctx context.Context) error {
	if d.hold(false) {
		return nil
	}
	began := d.m.now()
	err := d.m.places.Take(ctx)
	d.queued += d.m.since(began)
	if err == nil {
		d.hold(true)
	}
	return err
}

// hold reports whether the slot is held. If now is true, it first marks the slot as
// held.
func (d *desk) hold(now bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = d.held || now
	return d.held
}

// give releases the slot, and reports whether it was held.
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

// waiting runs f, which waits for something, without the slot.
func (d *desk) waiting(ctx context.Context, f func()) {
	if d.give() {
		defer func() { _ = d.take(ctx) }() // the engine stops if the context is done
	}
	f()
}

// compute runs f, which must not wait, in a slot.
func (m *CompactManager) compute(ctx context.Context, f func() error) error {
	if err := m.places.Take(ctx); err != nil {
		return err
	}
	defer m.places.Give()
	return f()
}

// computeNow runs f, which must not wait, while the caller holds a lock: in a slot
// if a slot is free, otherwise without a slot. If it waited for a slot, all calls
// of the session would wait for compactions of other sessions.
func (m *CompactManager) computeNow(f func() error) error {
	if m.places.TryTake() {
		defer m.places.Give()
	}
	return f()
}
