package trace

import (
	"context"
	"slices"
	"sync"
	"time"
)

// The approximate memory of an event besides its data, and of its TraceInfo, in
// bytes.
const (
	eventOverhead = 512
	traceOverhead = 1024
)

// sizeOf returns the memory of an event, rather too much than too little.
func sizeOf(e *Event) int {
	n := eventOverhead + e.Data.Len()
	if e.Trace != nil {
		n += traceOverhead
	}
	return n
}

// queue is a bounded first-in, first-out buffer between the calls that emit and
// the goroutine that exports. Its lock is held only for a few instructions,
// never during a wait.
type queue struct {
	maxEvents, maxBytes, batch int

	wake chan struct{} // capacity 1; signals a change

	mu      sync.Mutex
	ring    []Event // grows up to maxEvents
	head    int     // index of the oldest
	len     int
	bytes   int
	closed  bool
	flights int    // number of taken events that are not finished
	flight  uint64 // number of the first such event
	stats   counters
	waiters []waiter
}

// counters count events. emitted = exported + failed + dropped + waiting.
type counters struct{ emitted, exported, failed, dropped uint64 }

// A waiter is notified when all events up to number target are settled. Events
// are numbered from 1, in the order in which they are emitted.
type waiter struct {
	target uint64
	done   chan error // capacity 1
}

func newQueue(maxEvents, maxBytes, batch int) *queue {
	return &queue{maxEvents: maxEvents, maxBytes: maxBytes, batch: min(batch, maxEvents), wake: make(chan struct{}, 1)}
}

// push adds events, and drops the oldest ones if there are too many. It does
// nothing after close.
func (q *queue) push(events []Event) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	before := q.len
	for i := range events {
		q.pushOne(&events[i])
	}
	signal := before == 0 || (before < q.batch && q.len >= q.batch)
	q.mu.Unlock()
	if signal {
		q.signal()
	}
}

func (q *queue) pushOne(e *Event) {
	q.stats.emitted++
	size := sizeOf(e)
	for q.len > 0 && (q.len >= q.maxEvents || q.bytes+size > q.maxBytes) {
		q.shift()
		q.stats.dropped++
	}
	if q.len == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.len)%len(q.ring)] = *e
	q.len++
	q.bytes += size
}

// shift removes the oldest event.
func (q *queue) shift() Event {
	e := q.ring[q.head]
	q.ring[q.head] = Event{} // releases its strings
	q.head = (q.head + 1) % len(q.ring)
	q.len--
	q.bytes -= sizeOf(&e)
	return e
}

func (q *queue) grow() {
	ring := make([]Event, min(max(64, 2*len(q.ring)), q.maxEvents))
	n := copy(ring, q.ring[q.head:])
	copy(ring[n:], q.ring[:q.head])
	q.ring, q.head = ring, 0
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// wait returns true when there are events to export: a full batch, an event
// that has waited for linger, or, after a call of flush or close, any event. It
// returns false if the queue is closed and empty, or ctx is done.
func (q *queue) wait(ctx context.Context, linger time.Duration) bool {
	var timer <-chan time.Time
	lingered := false
	for ctx.Err() == nil {
		q.mu.Lock()
		waiting, closed := q.len, q.closed
		now := waiting >= q.batch || closed || lingered || len(q.waiters) > 0
		q.mu.Unlock()
		switch {
		case waiting > 0 && now:
			return true
		case closed:
			return false
		case waiting > 0 && timer == nil:
			timer = time.After(linger)
		}
		select {
		case <-q.wake:
		case <-timer:
			lingered = true // abandon may have dropped the events meanwhile
		case <-ctx.Done():
		}
	}
	return false
}

// take moves up to a batch of the oldest events to dst.
func (q *queue) take(dst []Event) []Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flights = min(q.len, q.batch)
	q.flight = q.gone() + 1
	for range q.flights {
		dst = append(dst, q.shift())
	}
	return dst
}

// finish settles n taken events; lost of them were not delivered.
func (q *queue) finish(n, lost int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flights = 0
	q.stats.exported += uint64(n - lost)
	q.stats.failed += uint64(lost)
	q.notify()
}

// abandon drops the waiting events and returns their number.
func (q *queue) abandon() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.len
	for q.len > 0 {
		q.shift()
		q.stats.dropped++
	}
	q.notify()
	return n
}

// gone returns the number of the last event that left the queue. Events leave
// in order, taken or dropped.
func (q *queue) gone() uint64 { return q.stats.emitted - uint64(q.len) }

// isSettled reports whether every event up to number target was exported, has
// failed or was dropped.
func (q *queue) isSettled(target uint64) bool {
	return q.gone() >= target && (q.flights == 0 || q.flight > target)
}

// notify wakes the waiters whose events are all settled.
func (q *queue) notify() {
	q.waiters = slices.DeleteFunc(q.waiters, func(w waiter) bool {
		if !q.isSettled(w.target) {
			return false
		}
		w.done <- nil
		return true
	})
}

// flush waits until all events pushed before it are settled, or were offered
// and wait for an unreachable exporter.
func (q *queue) flush(ctx context.Context) error {
	q.mu.Lock()
	w := waiter{target: q.stats.emitted, done: make(chan error, 1)}
	if q.isSettled(w.target) {
		q.mu.Unlock()
		return nil
	}
	q.waiters = append(q.waiters, w)
	q.mu.Unlock()
	q.signal()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		q.forget(w)
		return ctx.Err()
	}
}

// forget removes a waiter whose context is done.
func (q *queue) forget(w waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = slices.DeleteFunc(q.waiters, func(other waiter) bool { return other.done == w.done })
}

// close makes push a no-op and makes wait return the remaining events at once.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// counts returns the counters, and the number of events in the queue or in
// delivery.
func (q *queue) counts() (counters, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stats, q.len + q.flights
}
