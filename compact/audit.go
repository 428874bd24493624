package compact

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

const (
	// flushLines and flushBytes are how much of a session may wait before it is
	// written in the background; a commit writes it in any case.
	flushLines, flushBytes = 2048, 1 << 20
	// flushAfter is how long a line may wait while calls come: so much of the bill is
	// lost at most where the process is killed.
	flushAfter = time.Minute
	// maxWaiting bounds the bytes that wait for one session while its archive
	// takes nothing, and maxWaitingAll those of all sessions. The oldest
	// lines go first, and how many went is on record.
	maxWaiting, maxWaitingAll = 8 << 20, 64 << 20
	// lineOverhead is what a line costs in memory besides its text.
	lineOverhead = 64
)

// auditLog is what waits to be written to the audit log and the journal of a
// session. It is safe for concurrent use, and outlives the session's memory
// until all of it is written.
type auditLog struct {
	id      string
	log     *storage.Session
	backlog *backlog

	writing ctxlock.Mutex // one writer at a time, so that lines stay in order

	mu       sync.Mutex
	lines    []redact.Text
	journal  []journalLine
	since    time.Time // the oldest of these has waited; the zero time: none does
	bytes    int       // of both, and of what is being written
	dropped  int       // lines of the audit log, since some were last written
	busy     bool      // a writer in the background is at work
	failures int       // of writing, in a row
	again    time.Time // not in the background before
}

// journalLine is a message for the journal.
type journalLine struct {
	fp   message.Fingerprint
	text redact.Text
}

// add puts lines down, and returns how many had to go for them.
func (a *auditLog) add(lines ...redact.Text) (dropped int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range lines {
		a.lines = append(a.lines, l)
		a.grow(l.Len() + lineOverhead)
	}
	if a.since.IsZero() && len(lines) > 0 {
		a.since = a.backlog.m.now()
		a.backlog.waiting.add(a, a.since, a.since.Add(flushAfter))
	}
	return a.trim()
}

// trim drops the oldest lines while too much waits; the caller holds mu.
func (a *auditLog) trim() (dropped int) {
	for len(a.lines) > 0 && (a.bytes > a.backlog.perSession || a.backlog.total.Load() > a.backlog.all) {
		a.grow(-a.lines[0].Len() - lineOverhead)
		a.lines[0] = redact.Text{}
		a.lines = a.lines[1:]
		dropped++
	}
	a.dropped += dropped
	return dropped
}

// grow counts bytes; the caller holds mu.
func (a *auditLog) grow(n int) {
	a.bytes += n
	a.backlog.total.Add(int64(n))
}

// addJournal puts a message down, and reports whether there was room: while
// the archive takes nothing there is only so much. It comes again with the
// next call.
func (a *auditLog) addJournal(l journalLine) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := l.text.Len() + lineOverhead
	if a.full(n) {
		return false
	}
	a.journal = append(a.journal, l)
	a.grow(n)
	return true
}

// full reports whether n bytes more are too many for the journal; the caller holds mu.
func (a *auditLog) full(n int) bool {
	return a.failures > 0 && (a.bytes+n > a.backlog.perSession || a.backlog.total.Load()+int64(n) > a.backlog.all)
}

// room reports whether the journal takes anything.
func (a *auditLog) room() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.full(1)
}

// waits reports whether anything does.
func (a *auditLog) waits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lines)+len(a.journal)+a.dropped > 0 || a.busy
}

// due reports whether so much waits, or for so long, that it is to be written without
// a commit.
func (a *auditLog) due() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lines) > flushLines || a.bytes > a.backlog.flushAt || !a.since.IsZero() && a.backlog.m.now().Sub(a.since) >= flushAfter
}

// write appends what waits, and more. On an error all of it waits on.
func (a *auditLog) write(ctx context.Context, more ...redact.Text) error {
	if err := a.writing.Lock(ctx); err != nil {
		a.add(more...)
		return err
	}
	defer a.writing.Unlock()
	b := a.take(more)
	err := a.append(ctx, &b)
	if errors.Is(err, storage.ErrErased) {
		err = nil // nothing of it is kept, and nothing waits
	}
	a.wrote(&b, err)
	return err
}

// batch is what one write is about.
type batch struct {
	journal []journalLine
	lines   []redact.Text
	since   time.Time
	bytes   int
	lost    *loss // said in the first line, if any
}

func (a *auditLog) take(more []redact.Text) batch {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range more {
		a.grow(l.Len() + lineOverhead)
	}
	if a.since.IsZero() && len(more) > 0 {
		a.since = a.backlog.m.now() // should they have to wait
	}
	b := batch{journal: a.journal, lines: append(a.lines, more...), since: a.since, bytes: a.bytes}
	if a.dropped > 0 {
		b.lost = a.backlog.loss(a.id, a.dropped)
	}
	a.lines, a.journal, a.since = nil, nil, time.Time{}
	return b
}

func (a *auditLog) append(ctx context.Context, b *batch) (err error) {
	defer a.backlog.m.rescue("the archive", &err)
	if len(b.journal) > 0 {
		texts := make([]redact.Text, len(b.journal))
		for i := range b.journal {
			texts[i] = b.journal[i].text
		}
		if err := a.log.Journal(ctx, texts); err != nil {
			return err
		}
		b.journal = nil
	}
	lines := b.lines
	if b.lost != nil {
		lines = append([]redact.Text{b.lost.line}, lines...)
	}
	if len(lines) == 0 {
		return nil
	}
	return a.log.Events(ctx, lines)
}

// wrote settles a write: what could not be written waits again, before what
// came meanwhile.
func (a *auditLog) wrote(b *batch, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := 0
	if err != nil {
		now := a.backlog.m.now()
		kept = sizeOf(b)
		a.lines, a.journal = append(b.lines, a.lines...), append(b.journal, a.journal...)
		if a.since = b.since; a.since.IsZero() && kept > 0 {
			a.since = now
		}
		a.failures++
		a.backlog.waiting.add(a, now, now.Add(firstRest))
	} else {
		a.failures = 0
	}
	a.grow(kept - b.bytes)
	a.trim()
	if err == nil && b.lost != nil {
		a.dropped -= b.lost.lines
		a.backlog.m.pipe.Emit(b.lost.event)
	}
}

func sizeOf(b *batch) (n int) {
	for _, l := range b.lines {
		n += l.Len() + lineOverhead
	}
	for i := range b.journal {
		n += b.journal[i].text.Len() + lineOverhead
	}
	return n
}

// leaveEvents leaves the lines of a call to the next commit, or to a writer in
// the background where there are many.
func (c *call) leaveEvents() {
	a := c.s.audit
	if n := a.add(c.takeEvents()...); n > 0 {
		c.res.Warnings = append(c.res.Warnings, fmt.Sprintf("the archive takes no lines of the audit log: the %d oldest that waited were dropped", n))
	}
	if a.due() {
		a.backlog.flush(a)
	}
}
