package compact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

const (
	// flushLines and flushBytes limit the waiting lines of a session before they are
	// written in the background. A commit writes them in any case.
	flushLines, flushBytes = 2048, 1 << 20
	// flushAfter is how long a line can wait, even if no call comes. It limits how
	// many lines, for example about costs, are lost if the process is killed.
	flushAfter = longestWait
	// maxWaiting limits the waiting bytes of one session while its archive fails, and
	// maxWaitingAll the bytes of all sessions. The oldest lines are dropped first, and
	// their number is recorded.
	maxWaiting, maxWaitingAll = 8 << 20, 64 << 20
	// lineOverhead is the memory of a line besides its text, in bytes.
	lineOverhead = 64
)

// auditLog holds the lines that wait for the audit log and the journal of a
// session. It is safe for concurrent use, and outlives the session in memory
// until all of it is written.
type auditLog struct {
	id      string
	log     *record.Session
	backlog *backlog

	writing ctxlock.Mutex // held by the writer, so that lines stay in order

	mu       sync.Mutex
	lines    []redact.Text
	journal  []journalLine
	since    time.Time // time since which the oldest line has waited; zero: none waits
	unmarked time.Time // time since which lines of edits.jsonl wait for a mark in the manifest; zero: none
	bytes    int       // of lines, journal, and the batch being written
	dropped  int       // dropped lines of the audit log that the log does not report yet
	busy     bool      // a background writer is active
	failures int       // consecutive failed writes
	again    time.Time // time before which no background write starts
	alone    bool      // neither a session in memory nor the backlog holds it; see [auditLog.leave]
}

// journalLine is a message for the journal.
type journalLine struct {
	fp   message.Fingerprint
	text redact.Text
}

// add adds lines, and returns the number of waiting lines that were dropped to make
// room.
func (a *auditLog) add(lines ...redact.Text) (dropped int) {
	defer a.backlog.keep(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range lines {
		a.lines = append(a.lines, l)
		a.grow(l.Len() + lineOverhead)
	}
	if a.since.IsZero() && len(lines) > 0 {
		a.since = a.backlog.now()
		a.backlog.waiting.add(a, a.since, a.since.Add(flushAfter))
	}
	return a.trim()
}

// trim drops the oldest lines while too many bytes wait; the caller holds mu.
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

// addJournal adds a message, and reports whether there was room. Room is limited
// only while the archive fails. A message without room is added again by the next
// call.
func (a *auditLog) addJournal(l journalLine) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := l.text.Len() + lineOverhead
	if a.journalIsFull(n) {
		return false
	}
	a.journal = append(a.journal, l)
	a.grow(n)
	return true
}

// journalIsFull reports whether the journal has no room for n more bytes; the caller holds mu.
func (a *auditLog) journalIsFull(n int) bool {
	return a.failures > 0 && (a.bytes+n > a.backlog.perSession || a.backlog.total.Load()+int64(n) > a.backlog.all)
}

// journalHasRoom reports whether the journal has any room.
func (a *auditLog) journalHasRoom() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.journalIsFull(1)
}

// hasLines reports whether anything waits to be written.
func (a *auditLog) hasLines() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.isWaiting()
}

// isWaiting is hasLines for a caller that holds mu.
func (a *auditLog) isWaiting() bool {
	return len(a.lines)+len(a.journal)+a.dropped > 0 || a.busy || !a.unmarked.IsZero()
}

// leave reports whether nothing waits, so that no list needs to hold the log. Lines that are
// added later, such as the usage of a call whose session has left memory meanwhile, bring it
// back to the backlog.
func (a *auditLog) leave() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.alone = !a.isWaiting()
	return a.alone
}

// comesBack reports whether a log that no list holds has something to write.
func (a *auditLog) comesBack() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	back := a.alone && a.isWaiting()
	a.alone = a.alone && !back
	return back
}

// isDue reports whether so many lines wait, or one has waited for so long, that they
// are written without a commit.
func (a *auditLog) isDue() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	oldest := a.oldest()
	return len(a.lines) > flushLines || a.bytes > a.backlog.flushAt || !oldest.IsZero() && !isWithin(a.backlog.now(), oldest, flushAfter)
}

// oldest returns the time since which a line or a mark waits, zero if none does; the
// caller holds mu.
func (a *auditLog) oldest() time.Time {
	if a.since.IsZero() || !a.unmarked.IsZero() && a.unmarked.Before(a.since) {
		return a.unmarked
	}
	return a.since
}

// drain appends the waiting lines, and writes the planned mark. If the session was
// erased, the lines are dropped, and drain returns nil.
func (a *auditLog) drain(ctx context.Context) error {
	err := a.write(ctx)
	if err == nil {
		err = a.markEdits(ctx)
	}
	if errors.Is(err, record.ErrErased) {
		a.backlog.erased(a, err)
		return nil
	}
	return err
}

// write appends the waiting lines, and then more. On an error all of them continue to
// wait, except after [record.ErrErased].
func (a *auditLog) write(ctx context.Context, more ...redact.Text) error {
	if err := a.writing.Lock(ctx); err != nil {
		a.add(more...)
		return err
	}
	defer a.writing.Unlock()
	b := a.take(more)
	err := a.append(ctx, &b)
	if errors.Is(err, record.ErrErased) {
		a.wrote(&b, nil)
		return err
	}
	a.wrote(&b, err)
	return err
}

// edited reports that lines were appended to edits.jsonl. The manifest marks them
// within [flushAfter]: until then nobody could prove that they were removed.
func (a *auditLog) edited() {
	defer a.backlog.keep(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mark()
}

// mark plans a mark in the manifest, unless one is planned; the caller holds mu.
func (a *auditLog) mark() {
	if a.unmarked.IsZero() {
		a.unmarked = a.backlog.now()
		a.backlog.waiting.add(a, a.unmarked, a.unmarked.Add(flushAfter))
	}
}

// markEdits writes the planned mark, if any. After a failure it plans another one.
func (a *auditLog) markEdits(ctx context.Context) (err error) {
	a.mu.Lock()
	planned := !a.unmarked.IsZero()
	a.unmarked = time.Time{}
	a.mu.Unlock()
	if !planned {
		return nil
	}
	defer func() {
		if err != nil && !errors.Is(err, record.ErrErased) {
			a.edited()
		}
	}()
	defer a.backlog.rescue("the archive", &err)
	return a.log.CheckpointEdits(ctx)
}

// batch is the content of one write.
type batch struct {
	journal []journalLine
	lines   []redact.Text
	since   time.Time
	bytes   int
	lost    *loss // first line that reports the loss; nil: no loss
}

func (a *auditLog) take(more []redact.Text) batch {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range more {
		a.grow(l.Len() + lineOverhead)
	}
	if a.since.IsZero() && len(more) > 0 {
		a.since = a.backlog.now() // if the write fails, the lines wait from now on
	}
	b := batch{journal: a.journal, lines: append(a.lines, more...), since: a.since, bytes: a.bytes}
	if a.dropped > 0 {
		b.lost = a.backlog.loss(a.id, a.dropped)
	}
	a.lines, a.journal, a.since = nil, nil, time.Time{}
	return b
}

func (a *auditLog) append(ctx context.Context, b *batch) (err error) {
	defer a.backlog.rescue("the archive", &err)
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

// wrote finishes a write. Lines that were not written wait again, before later
// ones.
func (a *auditLog) wrote(b *batch, err error) {
	defer a.backlog.keep(a)
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := 0
	if err != nil {
		now := a.backlog.now()
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
		a.backlog.pipe.Emit(b.lost.event)
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

const (
	// flushers limits the background writers of all sessions.
	flushers = 8
	// flushTimeout limits the time of one write.
	flushTimeout = 30 * time.Second
	// firstRest and longestRest limit the pause after a failed write of a session's log.
	// The pause is random, and about doubles with each failure.
	firstRest, longestRest = time.Second, longestWait
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
	orphans map[string]*auditLog   // logs of sessions that have left memory
	late    map[*auditLog]struct{} // logs that were written already and got more lines
}

// keep keeps a log to which a line was added although no list holds the log any more. The
// session can be in memory again with another log.
func (b *backlog) keep(a *auditLog) {
	if !a.comesBack() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.late[a] = struct{}{}
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

func (a *auditLog) begin(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy || isAhead(now, a.again, longestRest) {
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

// dueAt returns the time of the next look at a log, at least a second from now.
func (a *auditLog) dueAt(now time.Time) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := now.Add(firstRest)
	for _, t := range []time.Time{a.again, a.oldest().Add(flushAfter)} {
		if t.After(at) && isAhead(now, t, longestWait) {
			at = t
		}
	}
	return at
}
