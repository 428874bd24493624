package compact

import (
	"slices"
	"sort"
	"sync"
	"time"
)

// longestWait is the longest time from the moment when a log is added to the queue, until it
// is due.
const longestWait = time.Minute

// isWithin reports whether less than d has passed since t. If the clock ran backwards to a
// time before t, d counts as passed: otherwise the wait would last until the clock
// has caught up, which can take hours.
func isWithin(now, t time.Time, d time.Duration) bool {
	gap := now.Sub(t)
	return 0 <= gap && gap < d
}

// isAhead reports whether t is still to come. A time that is further ahead than most was
// set before the clock ran backwards, and counts as passed.
func isAhead(now, t time.Time, most time.Duration) bool {
	return now.Before(t) && t.Sub(now) <= most
}

// queue holds the waiting audit logs, sorted by due time, and a timer that starts
// writers for them if no call does. So a killed process loses no more lines for an
// idle session than for an active one. One timer serves all sessions. It runs only
// while a log waits.
type queue[T comparable] struct {
	wake func()

	mu    sync.Mutex // taken after a log's lock, never before
	logs  []T
	in    map[T]time.Time // due time
	timer *time.Timer
	ended bool
}

// add adds a log with its due time, unless the log is in the queue.
func (q *queue[T]) add(a T, now, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, in := q.in[a]; in || q.ended {
		return
	}
	if q.in == nil {
		q.in = map[T]time.Time{}
	}
	q.in[a] = due
	at := sort.Search(len(q.logs), func(i int) bool { return q.in[q.logs[i]].After(due) })
	if q.logs = slices.Insert(q.logs, at, a); at == 0 {
		q.arm(due.Sub(now))
	}
}

// next removes and returns the first log if it is due. Otherwise it sets the timer for
// that log, and returns the zero value of T.
func (q *queue[T]) next(now time.Time) T {
	var none T
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.logs) == 0 || q.ended {
		return none
	}
	a := q.logs[0]
	if due := q.in[a]; isAhead(now, due, longestWait) {
		q.arm(due.Sub(now))
		return none
	}
	delete(q.in, a)
	q.logs[0] = none
	q.logs = q.logs[1:]
	return a
}

// arm sets the timer; the caller holds mu.
func (q *queue[T]) arm(wait time.Duration) {
	if q.timer == nil {
		q.timer = time.AfterFunc(wait, q.wake)
		return
	}
	q.timer.Reset(wait)
}

// end stops the timer.
func (q *queue[T]) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.logs, q.in = true, nil, nil
	if q.timer != nil {
		q.timer.Stop()
	}
}

// later sets the timer for another look at the queue.
func (q *queue[T]) later(now time.Time, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.logs) > 0 && !q.ended {
		if due := q.in[q.logs[0]]; isAhead(now, due, longestWait) {
			wait = max(wait, due.Sub(now))
		}
		q.arm(wait)
	}
}
