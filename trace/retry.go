package trace

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// A RetryError is returned by [Exporter.Export] if no event from Done on has left
// this process, for example because the connection was refused. The pipeline offers
// these events again, first after a quarter of a second and then after pauses that
// double up to 5 s, as long as its queue has room for newer events. An exporter
// must not return it for events that may have arrived, because the receiver would
// get them twice.
type RetryError struct {
	Done int   // number of events of the batch that must not be offered again
	Lost int   // number of these events that were not delivered
	Err  error // the cause
}

func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RetryError) Unwrap() error { return e.Err }

// NotSent reports whether err means that a request was never sent: the lookup
// of the server's name or the connection failed.
func NotSent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &dns) || errors.As(err, &op) && op.Op == "dial"
}

// Pauses of the pipeline before it offers events again.
const (
	firstRest = 250 * time.Millisecond
	longRest  = 5 * time.Second
)

// rest returns the pause after a number of consecutive failures.
func rest(failures int) time.Duration {
	return min(firstRest<<min(failures-1, 10), longRest)
}

// errWaiting returns the error of [Pipeline.Flush] for events that wait for an
// unreachable exporter.
func errWaiting(exporter string, waiting int, cause error) error {
	return &ExportError{Exporter: exporter, Op: "flush", Waiting: waiting, Err: cause}
}

// split reads from the error of an export of n events: the number of settled events,
// the number of lost events among these, and whether to offer the other events again.
func split(err error, n int) (done, lost int, again bool) {
	var retry *RetryError
	var some *LostError
	switch {
	case err == nil:
		return n, 0, false
	case errors.As(err, &retry):
		done = min(max(retry.Done, 0), n)
		return done, min(max(retry.Lost, 0), done), done < n
	case errors.As(err, &some):
		return n, min(max(some.Lost, 0), n), false
	}
	return n, n, false
}

// pause waits for d. It returns early if the queue is closed, a Flush waits, or
// ctx is done.
func (q *queue) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for !q.isUrgent() {
		select {
		case <-q.wake:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// isUrgent reports whether the queue is closed or a Flush waits.
func (q *queue) isUrgent() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed || len(q.waiters) > 0
}

// settle counts the first done events of a taken batch. It puts the others back
// to the front of the queue, drops the oldest of them if there is no room, and
// ends all waiting flushes with an error. It returns false and does nothing if
// the queue is closed, because there is no second try.
func (q *queue) settle(exporter string, batch []Event, done, lost int, cause error) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.flights = 0
	q.stats.exported += uint64(done - lost)
	q.stats.failed += uint64(lost)
	events := batch[done:]
	for i := len(events) - 1; i >= 0; i-- {
		if !q.unshift(&events[i]) {
			q.stats.dropped += uint64(i + 1)
			break
		}
	}
	for _, w := range q.waiters {
		w.done <- errWaiting(exporter, q.len, cause)
	}
	q.waiters = nil
	return true
}

// unshift adds an event before the oldest one. It returns false if there is no
// room.
func (q *queue) unshift(e *Event) bool {
	size := sizeOf(e)
	if q.len > 0 && (q.len >= q.maxEvents || q.bytes+size > q.maxBytes) {
		return false
	}
	if q.len == len(q.ring) {
		q.grow()
	}
	q.head = (q.head + len(q.ring) - 1) % len(q.ring)
	q.ring[q.head] = *e
	q.len++
	q.bytes += size
	return true
}

// String returns the counts for a log.
func (s Stats) String() string {
	return fmt.Sprintf("%s: %d emitted, %d delivered, %d lost, %d waiting", s.Exporter, s.Emitted, s.Exported, s.Lost(), s.Waiting)
}
