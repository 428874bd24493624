package compact

import (
	"context"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// observe handles the progress of a summarizer in this call.
func (r *run) observe(i summarize.CallInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = append(r.told, i)
	switch i.Phase {
	case summarize.Started:
		r.decision(r.view)
		r.summarizeBegan = r.c.m.now()
		if i.Backend != summarize.BackendExtractive {
			r.desk.give()
			// The archive is written while the model works.
			r.startArchive(r.ctx, nil)
		}
	case summarize.Answered:
		r.c.m.logPanic(i.Err)
		r.c.gotOver(i)
	case summarize.Finished:
		r.c.cause = causeOf(i.Err)
		r.summarize += r.c.m.since(r.summarizeBegan)
		p := summarizePayload(r.c.id, i)
		r.c.paid(&p, r.told)
		r.told = nil
		r.c.emit(r.c.event(p, r.summarizeBegan))
	}
}

// gotOver emits the event of a failed attempt after which the summarizer
// continued.
func (c *call) gotOver(i summarize.CallInfo) {
	if i.Err == nil || i.Action == "" {
		return
	}
	end := c.m.onClock(i.At)
	c.emit(c.eventAt(trace.SummaryAttempt{
		SessionID: c.id, Model: i.Model, Backend: i.Backend, Strategy: i.Strategy, Attempt: i.Attempt, MaxTokens: i.MaxTokens,
		Prompt: i.Prompt, Answer: i.Completion, Action: i.Action, ErrorType: "SummarizerFailed", Cause: causeOf(i.Err), Message: i.Err.Error(),
	}, end.Add(-i.Elapsed), end))
}

// engine returns the engine of this run: a copy of the shared one, whose
// summary stages use the session's redactor and report to the run.
func (r *run) engine() (*reduce.Engine, error) {
	e := *r.c.ep.engine
	e.Steps = append([]reduce.Step(nil), e.Steps...)
	session := r.c.s
	clean := func(s string) string { return session.redactor.Text(s).String() }
	for i, s := range e.Steps {
		switch stage := s.Stage.(type) {
		case compat.LocalSummary:
			stage.Clean = clean
			e.Steps[i].Stage = stage
		case *ownStage:
			e.Steps[i].Stage = stage.among(r.c.history)
		case ownTaker:
			e.Steps[i].Stage = ownTaker{stage.among(r.c.history)}
		default:
			if stage.Name() != summarize.StageName {
				continue
			}
			w := r.c.ep.writer
			w.Observe, w.Redact, w.Recall, w.Original = r.observe, clean, r.c.canRecall(), r.originals()
			w.First = r.c.s.lastNumber(r.c.q.owner()) + 1
			r.c.byAgent(&w)
			own, err := summarize.NewStage(w)
			if err != nil {
				return nil, err
			}
			e.Steps[i].Stage = own.Beside(r.beside())
		}
	}
	return &e, nil
}

// drive runs the engine, and stops it if the archive fails. If the view does not fit
// the budget, drive runs the engine again with the smallest reserve for the answer.
func (r *run) drive(ctx context.Context, engine *reduce.Engine, q *reduce.Request) (*reduce.Outcome, error) {
	c := r.c
	driven, give := context.WithCancelCause(ctx)
	defer give(nil)
	r.driven, r.give = driven, give
	defer r.arrived()
	out, err := engine.Run(driven, *q)
	if c.raiseBudget(err) {
		q.Budget = c.aiming(c.budget, q.Only)
		r.view = c.ep.engine.View(c.now.conv, *q) // the view depends on the budget
		r.late = false
		out, err = engine.Run(driven, *q)
	}
	r.desk.give() // the wait can be for work that needs the slot
	return out, r.given(ctx, driven, err)
}

// arrived stops the timer for long summaries.
func (r *run) arrived() {
	if r.waiting != nil {
		r.waiting.Stop()
	}
}

// measure records the durations of the stages and the summarizer.
func (r *run) measure(elapsed time.Duration) {
	r.c.res.Timing.Summarize = r.summarize
	r.c.res.Timing.ArchiveWait += r.waited
	r.c.res.Timing.PlaceWait += r.desk.queued
	r.c.res.Timing.Stages = max(0, elapsed-r.summarize-r.waited-r.desk.queued)
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
			r.summarize += c.m.since(r.summarizeBegan)
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
	if r.waiting != nil || c.q.dry { // an observed call asks no remote summarizer
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
	r.summarize += r.c.m.since(r.summarizeBegan)
	from := 0 // index of the first call of the current backend
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
