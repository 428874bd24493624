package compact

import (
	"slices"
	"sort"
	"sync"
	"time"
)

// queue holds the audit logs that wait, the first that is due first, and the clock that
// has them written when no call comes that would: a session that fell silent loses no
// more with its process than one that goes on. One timer serves all sessions, and none
// runs while nothing waits.
type queue struct {
	wake func()

	mu    sync.Mutex // taken with a log's lock held, never the other way round
	logs  []*auditLog
	in    map[*auditLog]time.Time // when it is due
	timer *time.Timer
	ended bool
}

// add has a log looked at when it is due, unless it is in the queue.
func (q *queue) add(a *auditLog, now, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, in := q.in[a]; in || q.ended {
		return
	}
	if q.in == nil {
		q.in = map[*auditLog]time.Time{}
	}
	q.in[a] = due
	at := sort.Search(len(q.logs), func(i int) bool { return q.in[q.logs[i]].After(due) })
	if q.logs = slices.Insert(q.logs, at, a); at == 0 {
		q.arm(due.Sub(now))
	}
}

// next takes the oldest log out of the queue, if it is due. If none is, the queue looks
// again when the oldest will be.
func (q *queue) next(now time.Time) *auditLog {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.logs) == 0 || q.ended {
		return nil
	}
	a := q.logs[0]
	if wait := q.in[a].Sub(now); wait > 0 {
		q.arm(wait)
		return nil
	}
	delete(q.in, a)
	q.logs[0] = nil
	q.logs = q.logs[1:]
	return a
}

// arm sets the clock; the caller holds mu.
func (q *queue) arm(wait time.Duration) {
	if q.timer == nil {
		q.timer = time.AfterFunc(wait, q.wake)
		return
	}
	q.timer.Reset(wait)
}

// end stops the clock.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended, q.logs, q.in = true, nil, nil
	if q.timer != nil {
		q.timer.Stop()
	}
}

// writeOverdue starts writers for what is due. Each takes the next log when it has
// written one, so that many that are due at once keep all writers busy, and no call waits.
func (b *backlog) writeOverdue() {
	for b.start() {
		a := b.overdue()
		if a == nil {
			b.done()
			return
		}
		go func() {
			defer b.done()
			for ; a != nil; a = b.overdue() {
				b.writeOut(a)
			}
		}()
	}
	b.waiting.later(b.m.now(), firstRest) // all writers are busy
}

// later looks at the queue again after a while.
func (q *queue) later(now time.Time, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.logs) > 0 && !q.ended {
		q.arm(max(wait, q.in[q.logs[0]].Sub(now)))
	}
}

// overdue begins the next log that is due, or returns nil. One that is being written, or
// rests after a failure, is looked at again.
func (b *backlog) overdue() *auditLog {
	for {
		now := b.m.now()
		a := b.waiting.next(now)
		switch {
		case a == nil:
			return nil
		case !a.waits():
		case !a.due() || !a.begin(now):
			b.waiting.add(a, now, a.dueAt(now))
		default:
			return a
		}
	}
}

// dueAt is when to look at a log again, at least a second from now.
func (a *auditLog) dueAt(now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := now.Add(firstRest)
	for _, t := range []time.Time{a.again, a.since.Add(flushAfter)} {
		if t.After(at) {
			at = t
		}
	}
	return at
}
