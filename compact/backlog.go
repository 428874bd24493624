package compact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

const (
	// flushers limits the background writers of all sessions.
	flushers = 8
	// flushTimeout limits the time of one write.
	flushTimeout = 30 * time.Second
	// firstRest and longestRest limit the pause after a failed write of a session's log.
	// The pause is random, and about doubles with each failure.
	firstRest, longestRest = time.Second, time.Minute
)

// backlog holds the audit logs of all sessions that wait, and their background
// writers.
type backlog struct {
	flushAt    int // number of waiting bytes of a session that starts a write in the background
	perSession int // limits in bytes
	all        int64
	total      atomic.Int64

	*env
	erased func(*auditLog, error) // called if the session of a log was erased

	slots   chan struct{}
	ctx     context.Context // of the writers
	stop    context.CancelFunc
	writers sync.WaitGroup
	waiting queue[*auditLog] // logs to be written even if no call comes

	mu      sync.Mutex
	ended   bool
	orphans map[string]*auditLog // logs of sessions that have left memory
}

func newBacklog(e *env, erased func(*auditLog, error)) *backlog {
	b := &backlog{flushAt: flushBytes, perSession: maxWaiting, all: maxWaitingAll, env: e, erased: erased, slots: make(chan struct{}, flushers), orphans: map[string]*auditLog{}}
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
	if !a.waits() {
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
	out := make([]*auditLog, 0, len(b.orphans))
	for _, a := range b.orphans {
		out = append(out, a)
	}
	return out
}

// settle removes the log of a session that is not in memory once it is written.
func (b *backlog) settle(a *auditLog) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.orphans[a.id] == a && !a.waits() {
		delete(b.orphans, a.id)
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

func (a *auditLog) begin(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy || now.Before(a.again) {
		return false
	}
	a.busy = true
	return true
}

func (a *auditLog) end(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = false
	if err != nil {
		most := min(firstRest<<min(a.failures, 10), longestRest)
		a.again = a.backlog.now().Add(most/2 + rand.N(most/2))
	}
}

// loss is the record of dropped lines in the log.
type loss struct {
	lines int
	event trace.Event
	line  redact.Text
}

func (b *backlog) loss(id string, lines int) *loss {
	now, name := b.now(), b.nameOf(id)
	p := trace.Error{
		SessionID: id, ErrorType: "AuditLinesDropped",
		Message:  fmt.Sprintf("the archive accepted no lines of the audit log for so long that the %d oldest waiting lines were dropped", lines),
		Guidance: "find out why the archive could not be written; the exporters received every event",
	}
	r := b.redactor.Session(name)
	e := trace.New(p, r.JSON(trace.Encode(p)), now, now)
	e.TraceID, e.Session = trace.NewTraceID(), name
	return &loss{lines: lines, event: e, line: r.JSON(e.AppendJSON(nil))}
}
