package ctxlock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSlotsAreTakenInTheOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(2)
		var mu sync.Mutex
		var order []int
		came := func() []int {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(order)
		}
		for i := range 6 {
			go func() {
				time.Sleep(time.Duration(i) * time.Second)
				if err := s.Take(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(10*time.Second + time.Duration(i)*time.Millisecond)
				s.Give()
			}()
		}
		time.Sleep(5500 * time.Millisecond)
		if n := len(came()); n != 2 {
			t.Errorf("%d goroutines hold a slot, of two slots", n)
		}
		time.Sleep(time.Minute)
		if want := []int{0, 1, 2, 3, 4, 5}; !slices.Equal(came(), want) {
			t.Errorf("the goroutines got their slots in the order %v, want %v", came(), want)
		}
	})
}

func TestSlotsAreWaitedForNoLongerThanTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(0) // 0 counts as one slot
		if err := s.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.Take(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Take without a free slot = %v after %v", err, time.Since(began))
		}
		s.Give()
		if err := s.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Take with a context that has ended = %v", err)
		}
		if err := s.Take(t.Context()); err != nil {
			t.Error("a canceled wait holds the slot")
		}
	})
}

func TestGiveOfAnUntakenSlotPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewSlots(1).Give()
}

func TestTryTakeTakesOnlyAFreeSlot(t *testing.T) {
	s := NewSlots(2)
	for i, want := range []bool{true, true, false, false} {
		if got := s.TryTake(); got != want {
			t.Errorf("try %d took one: %v", i, got)
		}
	}
	s.Give()
	if !s.TryTake() {
		t.Error("TryTake does not take a released slot")
	}
	s.Give()
	s.Give()
	defer func() {
		if recover() == nil {
			t.Error("a failed TryTake holds a slot")
		}
	}()
	s.Give()
}
