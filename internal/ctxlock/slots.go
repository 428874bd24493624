package ctxlock

import "context"

// Slots limits the number of concurrent operations. It is safe for concurrent
// use. Waiting callers get slots in the order of their arrival.
type Slots struct{ taken chan struct{} }

// NewSlots returns n free slots, at least one.
func NewSlots(n int) *Slots { return &Slots{make(chan struct{}, max(n, 1))} }

// Take waits until it has taken a slot or ctx ends. If it returns the error of ctx, no
// slot is taken. If ctx has ended, Take does not even take a free slot.
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

// TryTake takes a slot if one is free, and reports whether it did.
func (s *Slots) TryTake() bool {
	select {
	case s.taken <- struct{}{}:
		return true
	default:
		return false
	}
}

// Give returns a slot. It panics if no slot is taken.
func (s *Slots) Give() {
	select {
	case <-s.taken:
	default:
		panic("ctxlock: no slot is taken")
	}
}
