package compact

import (
	"context"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/trace"
)

// newWriter returns the configured writer of summaries.
func (m *CompactManager) newWriter(ep *epoch) (summarize.Writer, error) {
	cfg := &ep.cfg
	c := cfg.Summarizer
	w := summarize.Writer{
		Summarizer: cfg.Summarize, MaxTokens: c.MaxTokens, UserTokens: c.UserTokens, Fallback: c.Fallback, Instructions: c.Instructions,
		Redact: func(s string) string { return m.redactor.Text(s).String() }, Raw: !cfg.Redaction.Summarizer,
		Timeout: c.Timeout, Retries: c.MaxAttempts - 1, Parallel: c.Parallel,
	}
	if w.Retries == 0 {
		w.Retries = -1 // one attempt, no retry
	}
	if err := cfg.checkSummarize(""); err != nil {
		return w, err
	}
	st, err := cfg.strategyNamed(cfg.Policy.Strategy)
	w.Strategy = st.Asking(c.Sections, m.prompts[c.PromptFile])
	return w, err
}

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
		r.summarize += r.c.m.now().Sub(r.summarizeBegan)
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

// summarizePayload returns the payload of the model call, whose duration is the
// latency.
func summarizePayload(session string, i summarize.CallInfo) trace.Summarize {
	p := trace.Summarize{
		SessionID: session, Model: i.Model, Backend: i.Backend, Strategy: i.Strategy, Attempts: i.Attempt, Pieces: i.Pieces,
		MaxTokens: i.MaxTokens, InputMessages: i.InputMessages, InputTokens: i.InputTokens, SummaryTokens: i.SummaryTokens,
		PromptTokens: i.Prompt, CompletionTokens: i.Completion, CachedTokens: i.Cached, WrittenTokens: i.Written,
	}
	a := &i.Answer
	p.Seed, p.ResponseModel, p.ResponseID = a.Seed, a.Model, a.ID
	if a.Finish != "" {
		p.Finish = []string{a.Finish}
	}
	if host, port, err := net.SplitHostPort(a.Server); err == nil {
		p.Server = host
		p.Port, _ = strconv.Atoi(port)
	}
	if i.Err != nil {
		p.ErrorType, p.Cause, p.OutputText = "SummarizerFailed", causeOf(i.Err), i.Err.Error()
	}
	return p
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
			w.Observe, w.Redact, w.Recall, w.Original = r.observe, clean, r.c.recalls(), r.originals()
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
	if c.gaveWay(err) {
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
	r.c.res.Timing.Stages = elapsed - r.summarize - r.waited - r.desk.queued
}

// observed holds the progress of the summarizer in a run.
type observed struct {
	mu             sync.Mutex
	told           []summarize.CallInfo // of the summary that is being written within the call
	late           bool                 // the call could not wait for a summary
	waited         time.Duration        // waiting time for the archive before a summary
	driven         context.Context      // context of the engine
	waiting        *time.Timer          // timer that reports a long summary
	summarize      time.Duration
	summarizeBegan time.Time
}
