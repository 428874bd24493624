package compact

import (
	"context"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// Limits of the time that a call reserves for its work after the summary:
// archive, fallback, commit. It reserves a quarter of the time until the
// deadline, within these limits.
const (
	leastMargin = 50 * time.Millisecond
	mostMargin  = 2 * time.Second
)

// until returns the time at which the call stops waiting for a summary; zero: it waits
// without a limit.
func (c *call) until(ctx context.Context) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return end.Add(-min(max(end.Sub(c.entered)/4, leastMargin), mostMargin))
}

// beside configures how this run waits for a summary. If the call can't wait,
// the summary is finished in the background and serves the next call.
func (r *run) beside() summarize.Beside {
	c := r.c
	c.lane.writes.Store(c.writes())
	c.lane.flights.Begin()
	return summarize.Beside{
		Ahead:   r.ahead,
		Flights: &c.lane.flights, Key: c.ep.name, Until: c.until(r.ctx),
		Start: func(f func(context.Context)) bool {
			return r.driven.Err() == nil && c.m.fly(r.ctx, c.s, c.lane, f)
		},
		Wait: func() {
			r.desk.give()
			r.decision(r.view)
			r.startArchive(r.ctx, nil) // while the model thinks
			r.archiveFirst()
			r.summarizeBegan = c.m.now()
			r.patience()
		},
		Heard: r.heard,
		Late: func() {
			r.late = true
			r.summarize += c.m.now().Sub(r.summarizeBegan)
		},
	}
}

// longSummary is the waiting time for a summary after which an event reports
// the wait.
const longSummary = 2 * time.Second

// patience starts a timer that reports a long summary once. The end of the run
// stops it.
func (r *run) patience() {
	c, began := r.c, r.summarizeBegan
	if r.waiting != nil || c.q.dry || c.q.observe {
		return
	}
	before := c.res.Before.Total
	p := trace.SummaryBegun{SessionID: c.id, Backend: c.ep.cfg.Summarizer.Backend, Strategy: c.ep.writer.Strategy.Name, InputTokens: before}
	if d, ok := c.ep.writer.Summarizer.(strategy.Describer); ok {
		info := d.Describe()
		p.Backend, p.Model = info.Name, info.Model
	}
	r.waiting = time.AfterFunc(longSummary, func() { c.noteEvent(c.event(p, began)) })
}

// heard records the cost of a summary that this call uses or discards.
func (r *run) heard(began time.Time, calls []summarize.CallInfo, thrown bool) {
	began = r.c.m.onClock(began)
	if thrown {
		p := r.c.writes().unused(r.c.id, calls)
		r.c.paid(&p, calls)
		r.c.emit(r.c.eventAt(p, began, written(began, calls, r.c.m.now())))
		return
	}
	r.summarize += r.c.m.now().Sub(r.summarizeBegan)
	from := 0 // of the calls of the backend
	for k, i := range calls {
		if i.Phase == summarize.Answered {
			r.c.m.logPanic(i.Err)
			r.c.gotOver(i)
		}
		r.c.heardAgent(i)
		if i.Phase == summarize.Finished {
			r.c.cause = causeOf(i.Err)
			p := summarizePayload(r.c.id, i)
			r.c.paid(&p, calls[from:k+1])
			from = k + 1
			r.c.emit(r.c.eventAt(p, began, began.Add(i.Elapsed)))
		}
	}
}

// written returns the time when a summary was finished; now if it is still being
// written. A discarded summary can have been ready for long.
func written(began time.Time, calls []summarize.CallInfo, now time.Time) time.Time {
	for _, i := range slices.Backward(calls) {
		if i.Phase == summarize.Finished {
			return began.Add(i.Elapsed)
		}
	}
	return now
}

// onClock converts a time of the system's clock, which summaries use, to a time of
// Config.Now.
func (m *CompactManager) onClock(t time.Time) time.Time {
	if m.cfg.Now == nil {
		return t
	}
	return m.now().Add(-time.Since(t))
}

// unused returns the payload for a summary that nobody uses, with the tokens that
// the model has been asked for so far.
func (w *writing) unused(session string, calls []summarize.CallInfo) trace.Summarize {
	all := summarize.CallInfo{Backend: w.backend, Model: w.model, Strategy: w.strategy}
	sum := summarize.CallInfo{}
	for _, i := range calls {
		if i.Phase == summarize.Answered {
			sum.Prompt, sum.Completion, sum.Cached, sum.Written = sum.Prompt+i.Prompt, sum.Completion+i.Completion, sum.Cached+i.Cached, sum.Written+i.Written
		}
		all = i
	}
	all.Prompt, all.Completion, all.Cached, all.Written = sum.Prompt, sum.Completion, sum.Cached, sum.Written
	all.Err = nil
	p := summarizePayload(session, all)
	p.Unused, p.OutputText = true, "nothing used it: the conversation changed or ended"
	return p
}

// fly runs write in the background; write reads data for a summary, or writes the
// summary. Until it is done, its lane and session stay in memory. It reports
// false, and runs nothing, after Close.
func (m *CompactManager) fly(ctx context.Context, s *session, l *lane, write func(context.Context)) bool {
	m.mu.Lock()
	s.users++
	m.mu.Unlock()
	m.uses.add()
	s.mu.Lock()
	l.users++
	s.mu.Unlock()
	landed := func() {
		m.leave(s, l, nil)
		m.release(s)
	}
	if m.side.start(ctx, func(ctx context.Context) {
		defer landed()
		write(ctx)
	}) {
		return true
	}
	landed()
	return false
}

// leave ends the use of a lane.
func (m *CompactManager) leave(s *session, l *lane, history []message.Message) {
	if forgotten := s.leave(l, history); forgotten != nil {
		m.throw(s, forgotten)
	}
}

// throw cancels the summary of a lane that leaves memory, and records its cost.
func (m *CompactManager) throw(s *session, l *lane) {
	began, calls, ok := l.flights.Throw()
	if !ok {
		return
	}
	began = m.onClock(began)
	name := m.nameOf(s.id)
	w := l.writes.Load()
	p, cost := w.unused(s.id, calls), w.cost(calls)
	cost.in(&p, w.card.Relative)
	s.billed(cost.bill())
	e := trace.New(p, s.redactor.JSON(trace.Encode(p)), began, written(began, calls, m.now()))
	e.TraceID, e.Session = trace.NewTraceID(), name
	m.pipe.Emit(e)
	s.audit.add(s.redactor.JSON(e.AppendJSON(nil)))
}

// throwAll calls throw for all lanes of a session.
func (m *CompactManager) throwAll(s *session) {
	s.mu.Lock()
	all := make([]*lane, 0, len(s.lanes))
	for _, l := range s.lanes {
		all = append(all, l)
	}
	s.mu.Unlock()
	for _, l := range all {
		m.throw(s, l)
	}
}

// throwUnused calls throwAll for all sessions in memory. It does not hold the manager's
// mutex during that time, because a running call can hold the lock of a summary and
// wait for that mutex.
func (m *CompactManager) throwUnused() {
	for _, s := range m.inMemory() {
		m.throwAll(s)
	}
}
