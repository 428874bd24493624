package compact

import (
	"context"
	"maps"
	"slices"

	"github.com/agentcompact/compact/storage/record"
)

func newBacklog(e *env, erased func(*auditLog, error)) *backlog {
	b := &backlog{flushAt: flushBytes, perSession: maxWaiting, all: maxWaitingAll, env: e, erased: erased, slots: make(chan struct{}, flushers), orphans: map[string]*auditLog{}}
	b.late = map[*auditLog]struct{}{}
	b.ctx, b.stop = context.WithCancel(context.Background())
	b.waiting.wake = b.writeOverdue
	return b
}

// adopt returns the log of a session that enters memory, with its waiting
// lines, if any.
func (b *backlog) adopt(id string, log *record.Session) *auditLog {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.orphans[id]; a != nil {
		delete(b.orphans, id)
		return a
	}
	return &auditLog{id: id, log: log, backlog: b}
}

// orphan keeps the log of a session that leaves memory until it is written.
func (b *backlog) orphan(a *auditLog) {
	if a.leave() {
		return
	}
	b.mu.Lock()
	b.orphans[a.id] = a
	b.mu.Unlock()
	b.flush(a)
}

// left returns the waiting logs of sessions that are not in memory.
func (b *backlog) left() []*auditLog {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Values(b.orphans)), maps.Keys(b.late))
}

// settle removes the log of a session that is not in memory once it is written.
func (b *backlog) settle(a *auditLog) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, late := b.late[a]; (late || b.orphans[a.id] == a) && a.leave() {
		delete(b.late, a)
		if b.orphans[a.id] == a {
			delete(b.orphans, a.id)
		}
	}
}

// flush writes a log in the background, unless it is being written, failed
// recently, or all slots are in use.
func (b *backlog) flush(a *auditLog) {
	if !a.begin(b.now()) {
		return
	}
	if !b.start() {
		a.end(nil)
		return
	}
	go func() {
		defer b.done()
		b.writeOut(a)
	}()
}

// writeOut writes a log whose write has begun.
func (b *backlog) writeOut(a *auditLog) {
	ctx, cancel := context.WithTimeout(b.ctx, flushTimeout)
	defer cancel()
	a.end(a.drain(ctx))
	b.settle(a)
}

// start takes a slot, and reports whether one was free.
func (b *backlog) start() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false
	}
	select {
	case b.slots <- struct{}{}:
		b.writers.Add(1)
		return true
	default:
		return false
	}
}

// done releases a slot.
func (b *backlog) done() {
	<-b.slots
	b.writers.Done()
}

// close ends the writers, and waits for them until ctx is done. Unwritten lines
// continue to wait; Close of the manager writes them.
func (b *backlog) close(ctx context.Context) {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.waiting.end()
	b.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.writers.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// writeOverdue starts writers for the logs that are due. A writer that has written a
// log takes the next one, so that no call waits even if many logs are due.
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
	b.waiting.later(b.now(), firstRest) // no writer is free
}

// overdue returns the next log that is due and begins its write, or returns nil. A log
// that is being written or pauses after a failure is put back.
func (b *backlog) overdue() *auditLog {
	for {
		now := b.now()
		a := b.waiting.next(now)
		switch {
		case a == nil:
			return nil
		case !a.hasLines():
		case !a.isDue() || !a.begin(now):
			b.waiting.add(a, now, a.dueAt(now))
		default:
			return a
		}
	}
}
