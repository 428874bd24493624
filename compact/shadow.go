package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// An observed call runs like any other, in a shadow session in memory. Later calls see
// the simulated changes of earlier ones, so the reported numbers are the numbers of a
// whole compacted session. Only numbers leave memory.

// WithObserve makes this call only observe, as [Config.Observe] does for all
// calls: the result's Messages are the unchanged history, Projected is the result
// without observation, and the error is always nil. The call waits for Projected
// until its context is done, so make it concurrently with the request, not before
// it. It does not affect plans.
func WithObserve() Option { return func(r *request) { r.observe, r.waits = true, true } }

const (
	observeWait    = 100 * time.Millisecond // maximum wait of a call for its outcome under Config.Observe
	observeTimeout = 10 * time.Second       // time limit of an observation
	maxLooking     = 64                     // concurrent observations
)

// Observes reports whether [Config.Observe] is set. It is false for a nil manager.
func (m *CompactManager) Observes() bool { return m != nil && m.cfg.Observe }

// observing returns the configuration without anything that costs money: extractive
// summaries replace summaries of a model.
func (c Config) observing() Config {
	c.Summarize = nil
	c.Summarizer.Backend, c.Summarizer.Model, c.Summarizer.BaseURL = "extractive", "", ""
	return c
}

// observed observes a call, and returns the unchanged history. Under
// Config.Observe the caller waits at most observeWait; later outcomes are only in
// events.
func (m *CompactManager) observed(ctx context.Context, id string, history []message.Message, q request) *Result {
	if q.waits {
		return m.look(ctx, id, history, q)
	}
	late := untouched(id, history, q)
	late.Reason = trace.ReasonObserve
	if m.looking.Add(1) > maxLooking {
		m.looking.Add(-1)
		late.Warnings = []string{fmt.Sprintf("observe: this call was not examined, because %d calls are being examined", maxLooking)}
		return late
	}
	done := make(chan *Result, 1)
	begun := m.side.start(ctx, func(ctx context.Context) {
		defer m.looking.Add(-1)
		ctx, cancel := context.WithTimeout(ctx, observeTimeout)
		defer cancel()
		done <- m.look(ctx, id, slices.Clone(history), q)
	})
	if !begun {
		m.looking.Add(-1)
		late.Warnings = []string{"observe: this call was not examined: " + ErrClosed.Error()}
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
	late.Warnings = []string{fmt.Sprintf("observe: the examination takes longer than %s; its events report the result", observeWait)}
	return late
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
	from.Timing.Total = c.m.now().Sub(c.began)
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

// projection holds the projected sums of a session.
type projection struct{ calls, estimated, saved int }

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

// sayUsage returns the function that emits the measured usage of the request,
// beside the projected numbers under other names. Only its first call counts, and
// it ignores a usage that contradicts the request.
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

// pretend commits an outcome in memory only, as a step or as edits between steps.
func (c *call) pretend(ctx context.Context, out *reduce.Outcome, edits bool) error {
	if err := c.s.committing.Lock(ctx); err != nil {
		return err
	}
	defer c.s.committing.Unlock()
	c.took(out)
	step := c.ledger(&run{}, out, 0)
	step.Archive = ""
	if edits {
		step.Seq = c.s.lastEdit() + 1
		c.s.mu.Lock()
		c.s.learnEdit(step)
		c.s.mu.Unlock()
		c.rememberEdits(out, step.Seq)
		return nil
	}
	step.Step = c.s.next()
	c.res.Step = step.Step
	c.s.addVolatile(step)
	c.settle(step.Step)
	c.remember(out)
	return nil
}

// sessionOf returns the session of a call, or the shadow session of an observed
// one.
func (m *CompactManager) sessionOf(ctx context.Context, c *call) (*session, error) {
	if !c.q.observe {
		return m.session(ctx, c.asked.session)
	}
	if !m.uses.begin() {
		return nil, ErrClosed
	}
	s, err := m.shadowOf(ctx, c.label)
	if err != nil {
		m.uses.done()
	}
	return s, err
}

// shadowKey is the prefix of the ids of shadows, which no session's name has.
const shadowKey = "\x00observed\x00"

func (m *CompactManager) shadowOf(ctx context.Context, label redact.Text) (*session, error) {
	id := shadowKey + label.String()
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		s.users++
		return s, nil
	}
	s, err := openSession(ctx, m.shadows, id, m.keys) // in memory, and empty
	if err != nil {
		return nil, err
	}
	s.shadow, s.volatile = true, true
	s.redactor.Session = m.redactor.Session(label)
	m.keepSession(s, 1)
	return s, nil
}

// errObserves is the error for operations that need an archive while observing.
var errObserves = errors.New("observe is set, so no archive is opened")
