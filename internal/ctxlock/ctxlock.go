// Package ctxlock provides a lock for operations that may take long: waiting for it
// ends with the caller's context. For short operations in memory, use a [sync.Mutex].
package ctxlock

import (
	"context"
	"sync"
)

// A Mutex is a mutual exclusion lock with waits that end with a context. The zero value
// is an unlocked mutex. A Mutex must not be copied after first use, and is safe for
// concurrent use. Waiters get the lock in no particular order.
type Mutex struct {
	once sync.Once
	held chan struct{} // holds one value while the mutex is locked
}

func (m *Mutex) slot() chan struct{} {
	m.once.Do(func() { m.held = make(chan struct{}, 1) })
	return m.held
}

// Lock waits until it has locked m or ctx ends. If it returns the error of ctx, m is
// not locked. If ctx has ended, Lock does not even lock a free mutex.
func (m *Mutex) Lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case m.slot() <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TryLock locks m if it is free, and reports whether it did.
func (m *Mutex) TryLock() bool {
	select {
	case m.slot() <- struct{}{}:
		return true
	default:
		return false
	}
}

// Unlock unlocks m. It panics if m is not locked.
func (m *Mutex) Unlock() {
	select {
	case <-m.slot():
	default:
		panic("ctxlock: unlock of an unlocked mutex")
	}
}
