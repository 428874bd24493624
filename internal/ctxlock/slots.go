package ctxlock

import "context"

// Slots limits the number of concurrent operations. It is safe for concurrent
// use. Waiting callers get slots in the order of their arrival.
type Slots struct{ taken chan struct{} }

// NewSlots returns n free places, one at least.
func NewSlots(n int) *Slots { return &Slots{make(chan struct{}, max(n, 1))} }

// Take takes a place, and waits until one is free or ctx ends. The error is that
// of the context; nothing is taken then. A context that has ended takes nothing,
// not even a free place.
func (s *Slots) Take(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case s.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryTake takes a place if one is free, and reports whether it did.
func (s *Slots) TryTake() bool {
	select {
	case s.taken <- struct{}{}:
		return true
	default:
		return false
	}
}

// Give gives a place back. It panics if none is taken.
func (s *Slots) Give() {
	select {
	case <-s.taken:
	default:
		panic("ctxlock: a place is given back that was not taken")
	}
}
