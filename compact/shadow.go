package compact

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace"
)

// An observed call runs like any other, in a shadow session in memory. Later calls see
// the simulated changes of earlier ones, so the reported numbers are the numbers of a
// whole compacted session. Only numbers leave memory.

const (
	observeWait    = 100 * time.Millisecond // maximum wait of a call for its outcome under Config.Observe
	observeTimeout = 10 * time.Second       // time limit of an observation
	maxLooking     = 64                     // concurrent observations
)

// observed observes a call, and returns the unchanged history. Under
// Config.Observe the caller waits at most observeWait; later outcomes are only in
// events.
func (m *CompactManager) observed(ctx context.Context, id string, history []message.Message, q request) *Result {
	if q.waits {
		return m.look(ctx, id, history, q)
	}
	late := untouched(id, history, q)
	late.Reason = trace.ReasonObserve
	if err := m.marked(&q, history); err != nil {
		late.Warnings = []string{"observe: " + m.Redact(err.Error())}
		return late
	}
	if m.looking.Add(1) > maxLooking {
		m.looking.Add(-1)
		late.Warnings = []string{fmt.Sprintf("observe: this call was not observed, because %d calls are being observed", maxLooking)}
		return late
	}
	done := make(chan *Result, 1)
	begun := m.side.start(ctx, func(ctx context.Context) {
		defer m.looking.Add(-1)
		ctx, cancel := context.WithTimeout(ctx, observeTimeout)
		defer cancel()
		done <- m.look(ctx, id, history, q)
	})
	if !begun {
		m.looking.Add(-1)
		late.Warnings = []string{"observe: this call was not observed: " + ErrClosed.Error()}
		return late
	}
	timer := time.NewTimer(observeWait)
	defer timer.Stop()
	select {
	case res := <-done:
		return res
	case <-timer.C:
	case <-ctx.Done():
	}
	late.Warnings = []string{fmt.Sprintf("observe: the observation takes longer than %s; its events report the result", observeWait)}
	return late
}

// marked calls [request.mark], and returns a panic of the caller's function as an error.
func (m *CompactManager) marked(q *request, history []message.Message) (err error) {
	defer m.rescue("the hook, which only observes", &err)
	q.mark(history)
	return nil
}

// look runs the call in its shadow session.
func (m *CompactManager) look(ctx context.Context, id string, history []message.Message, q request) (res *Result) {
	res = untouched(id, history, q)
	res.Reason = trace.ReasonObserve
	var err error
	defer func() {
		if err != nil {
			res.Warnings = append(res.Warnings, "observe: "+m.Redact(err.Error()))
		}
	}()
	defer m.rescue("the hook, which only observes", &err)
	q.mark(history)
	c := newCall(m, id, history, q)
	defer c.release()
	err = c.guarded(ctx)
	if err == nil {
		c.sent(c.input)
	}
	c.sayObserved(res, err)
	return res
}

// sayObserved fills in the caller's result from the shadow's, and emits the
// events.
func (c *call) sayObserved(res *Result, err error) {
	if c.s == nil || c.res.MaxTokens == 0 {
		return // nothing was counted
	}
	costs := make([]int, len(c.input))
	for i := range c.input {
		costs[i] = c.ep.estimator.Message(c.input[i])
	}
	res.Before = c.layers(c.input, costs)
	res.After, res.TokensIn = res.Before, res.Before.Total
	from := c.res
	res.Model, res.MaxTokens, res.CountingUnit = from.Model, from.MaxTokens, from.CountingUnit
	res.Budget, res.Trigger, res.Target, res.Keep = from.Budget, from.Trigger, from.Target, from.Keep
	res.UpperBound = c.upperBound(c.input, res.After.Total)
	from.Timing.Total = c.m.since(c.began)
	p := c.observedPayload(res, err)
	if err == nil {
		res.Projected = from
		res.observe, from.observe = from.observe, observation{}
		res.observe.shown = c.sayUsage(p)
	}
	if from.Triggered && err == nil {
		c.export(c.event(c.wouldCompact(), c.began))
	}
	e := c.event(p, c.began)
	e.SpanID, e.ParentID = c.span, c.root
	if !c.callers && !c.m.cfg.Trace.PerSession {
		e.Trace = c.traceInfo(c.wouldStory(res.After.Total, err), c.began, c.m.now())
	}
	c.export(e)
}

func (c *call) observedPayload(res *Result, err error) trace.Observed {
	from := c.res
	p := trace.Observed{
		SessionID: c.id, Agent: c.q.agent, Model: c.ep.name, WouldCompact: from.Triggered, Reason: from.Reason, Step: from.Step,
		Estimated: res.After.Total, Projected: from.After.Total, MaxTokens: c.ep.window, Budget: c.budget.Cap,
		Messages: len(c.input), ProjectedMessages: len(from.Messages), Masked: from.MaskedCount, Truncated: from.TruncatedCount,
		Pruned: from.SummarizedCount + from.DroppedCount, Stage: string(from.ReductionStage), CallStage: string(from.CallStage),
		StandIn: (c.m.cfg.Summarize != nil || c.m.cfg.Summarizer.Backend == backendAgent) && from.Summary != nil, ElapsedMS: trace.Milliseconds(from.Timing.Total),
	}
	if err != nil {
		p.WouldCompact, p.WouldFail, p.Projected, p.ProjectedMessages, p.CallStage = false, kindOf(err), p.Estimated, p.Messages, string(ReductionNone)
	}
	p.Saved = p.Estimated - p.Projected
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.projected.calls++
	c.s.projected.estimated += p.Estimated
	c.s.projected.saved += p.Saved
	p.SessionCalls, p.SessionEstimated, p.SessionSaved = c.s.projected.calls, c.s.projected.estimated, c.s.projected.saved
	return p
}

func (c *call) wouldCompact() trace.WouldCompact {
	from := c.res
	p := trace.WouldCompact{
		SessionID: c.id, Step: from.Step, Reason: from.Reason, Before: from.Before.Total, After: from.After.Total,
		Trigger: from.Trigger, Target: from.Target, Policy: c.policyInfo(),
	}
	if from.Summary != nil {
		p.SummaryTokens = from.Summary.Tokens
	}
	for _, s := range from.Stages {
		p.Stages = append(p.Stages, trace.ProjectedStage{Stage: s.Stage, Edits: s.Edits, Before: s.Before, After: s.After, Discarded: s.Err != ""})
	}
	return p
}

// sayUsage returns the function that emits the measured usage of the request together
// with the projected numbers. Only its first call counts, and it ignores a usage that
// contradicts the request.
func (c *call) sayUsage(p trace.Observed) func(Usage) {
	var once sync.Once
	return func(u Usage) {
		once.Do(func() {
			if u.contradicts(p.Estimated) != nil {
				return
			}
			e := trace.ObservedUsage{SessionID: c.id, Model: p.Model, Estimated: p.Estimated, Projected: p.Projected, Saved: p.Saved}
			e.Measured, e.Output = u.PromptTokens+u.CompactedTokens, u.OutputTokens+u.SummaryTokens
			if e.CacheKnown = u.CacheKnown; u.CacheKnown {
				e.Cached, e.Written = u.CachedTokens, u.WrittenTokens+u.WrittenHourTokens
			}
			c.export(c.event(e, c.began))
		})
	}
}
