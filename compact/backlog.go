package compact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

const (
	// flushers bounds the writers in the background, of all sessions together.
	flushers = 8
	// flushTimeout is how long one of them may take.
	flushTimeout = 30 * time.Second
	// firstRest and longestRest are how long a session is left alone after its
	// log could not be written, and is longer each time.
	firstRest, longestRest = time.Second, time.Minute
)

// backlog is what waits to be written to the audit logs of all sessions, and
// who writes it.
type backlog struct {
	flushAt    int // bytes of a session that are written in the background
	perSession int // the bounds, in bytes
	all        int64
	total      atomic.Int64

	m *CompactManager

	slots   chan struct{}
	ctx     context.Context // of the writers
	stop    context.CancelFunc
	writers sync.WaitGroup
	waiting queue // logs that no call may come to write

	mu      sync.Mutex
	ended   bool
	orphans map[string]*auditLog // of sessions that are not in memory any more
}

func newBacklog(m *CompactManager) *backlog {
	b := &backlog{flushAt: flushBytes, perSession: maxWaiting, all: maxWaitingAll, m: m, slots: make(chan struct{}, flushers), orphans: map[string]*auditLog{}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	b.waiting.wake = b.writeOverdue
	return b
}

// adopt returns the log of a session that comes into memory: with what waits,
// if anything does.
func (b *backlog) adopt(id string, log *storage.Session) *auditLog {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.orphans[id]; a != nil {
		delete(b.orphans, id)
		return a
	}
	return &auditLog{id: id, log: log, backlog: b}
}

// orphan keeps the log of a session that leaves the memory, until it is
// written.
func (b *backlog) orphan(a *auditLog) {
	if !a.waits() {
		return
	}
	b.mu.Lock()
	b.orphans[a.id] = a
	b.mu.Unlock()
	b.flush(a)
}

// left returns the logs of sessions that are not in memory and that wait.
func (b *backlog) left() []*auditLog {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]*auditLog, 0, len(b.orphans))
	for _, a := range b.orphans {
		out = append(out, a)
	}
	return out
}

// settle forgets the log of a session that is not in memory once it is
// written.
func (b *backlog) settle(a *auditLog) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.orphans[a.id] == a && !a.waits() {
		delete(b.orphans, a.id)
	}
}

// flush writes a log in the background, unless that is under way, failed a
// moment ago, or enough others are being written.
func (b *backlog) flush(a *auditLog) {
	if !a.begin(b.m.now()) {
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

// writeOut writes a log that was begun.
func (b *backlog) writeOut(a *auditLog) {
	ctx, cancel := context.WithTimeout(b.ctx, flushTimeout)
	defer cancel()
	a.end(a.write(ctx))
	b.settle(a)
}

// start takes a slot.
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

// done gives a slot back.
func (b *backlog) done() {
	<-b.slots
	b.writers.Done()
}

// close ends the writers, and waits for that until ctx ends. What they had not
// written waits.
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
		a.again = a.backlog.m.now().Add(most/2 + rand.N(most/2))
	}
}

// loss is how the log says that lines are missing.
type loss struct {
	lines int
	event trace.Event
	line  redact.Text
}

func (b *backlog) loss(id string, lines int) *loss {
	now, name := b.m.now(), b.m.nameOf(id)
	p := trace.Error{
		SessionID: id, ErrorType: "AuditLinesDropped",
		Message:  fmt.Sprintf("the archive took no lines of the audit log for so long that the %d oldest that waited were dropped", lines),
		Guidance: "find out why the archive could not be written; the exporters were given every event",
	}
	r := b.m.redactor.Session(name)
	e := trace.New(p, r.JSON(trace.Encode(p)), now, now)
	e.TraceID, e.Session = trace.NewTraceID(), name
	return &loss{lines: lines, event: e, line: r.JSON(e.AppendJSON(nil))}
}
