package ctxlock

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLockWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Mutex
		if err := m.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := m.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Lock of a held mutex = %v, want the deadline's error", err)
		}
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("Lock waited %v, want 1s", waited)
		}
		m.Unlock()
		if !m.TryLock() {
			t.Error("a canceled wait holds the mutex")
		}
	})
}

func TestLockOfAnEndedContextLocksNothing(t *testing.T) {
	var m Mutex
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Lock(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Lock = %v, want %v", err, context.Canceled)
	}
	if !m.TryLock() {
		t.Error("the mutex is locked")
	}
	if m.TryLock() {
		t.Error("TryLock locked a locked mutex")
	}
}

func TestMutexExcludes(t *testing.T) {
	var m Mutex
	var wg sync.WaitGroup
	n := 0
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if m.Lock(t.Context()) == nil {
					n++
					m.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if n != 8000 {
		t.Errorf("counted %d, want 8000", n)
	}
}

func TestUnlockOfAnUnlockedMutexPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	new(Mutex).Unlock()
}
