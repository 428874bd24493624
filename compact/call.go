package compact

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// call is one call of the manager in progress.
type call struct {
	m       *CompactManager
	q       request
	id      string            // as nameOf returns it, like the agent and the branch in q
	history []message.Message // as the stages see it, with the protection by the caller's function
	input   []message.Message // as it came in
	asked   names             // names as the caller gave them
	res     *Result

	ep   *epoch
	s    *session
	lane *lane

	rules   *legality // rules of the provider; nil = unknown provider
	now     replayed  // the history with the edits of earlier steps applied
	seen    int       // number of the session's steps that the decision knew
	fixed   int       // tokens of tool schemas, reply primer and other fixed parts
	tools   int
	outside int // bytes of the body outside of messages

	budget policy.Budget // budget of the epoch, with the limits of this call
	last   int           // tokens after the last compaction with this model and window, by the upper bound; 0 = none

	lastAttempt bool          // the decision of this attempt is final, whatever others commit
	seenEdits   int64         // number of the last edit in edits.jsonl that the decision knew
	outChain    *policy.Chain // chain of the conversation after the commit

	shown   *policy.Conversation // conversation of the result's messages; nil: the unchanged history
	summary *policy.SummaryInfo  // summary that this call made

	began             time.Time
	entered           time.Time // start by the real clock, for deadlines
	trace, span, root string
	label, agent      redact.Text // id and agent for events
	sessionBegan      time.Time   // start of the session, if it has one trace
	callers           bool        // the trace belongs to the caller
	triggered         bool        // the decision event says that this call compacts
	decided           bool        // the decision event was emitted or is held back
	telling           stepTelling
	storing           bool          // its step is being committed
	late              bool          // its summary is late
	lateTold          bool          // an event of its outcome says so
	voids             []string      // spans in the audit log of a step that failed, until its failure is told
	events            []redact.Text // lines of this call for the audit log, written with the commit
	parent            trace.Event
	logged            int               // step in the line of parent
	nextDue           int               // tokens that a view above the trigger waits for
	floor             int               // least size of the view, if it prevents a compaction
	offer             *policy.Offer     // offer chosen by the economic trigger; nil = none
	stops             []int             // positions of cache marks in tokens; nil = not computed
	soon              *policy.Offer     // offer that it will choose soon
	summaries         summaryCost       // cost of summaries by a model
	did               *deeds            // messages that this call changed; nil = none
	working           time.Time         // start of the current phase
	cause             string            // cause of a missing model summary
	broken            *trace.CacheBreak // where this prompt differs from the previous one; nil: it continues it
	saved             int               // tokens that this call adds to the session's savings
}

func newCall(m *CompactManager, id string, history []message.Message, q request) *call {
	c := &call{m: m, q: q, asked: names{id, q.agent, q.branch}, input: history, history: protect(history, q.pins), began: m.now()}
	c.name()
	c.res = &Result{
		Session: id, Agent: q.agent, Manual: q.manual,
		ReductionStage: ReductionNone, InvariantStatus: InvariantsOK,
		Note: m.redactor.Text(q.note).String(),
	}
	return c
}

// name sets session, agent and branch to their names in the archive.
func (c *call) name() {
	c.label, c.agent = c.m.nameOf(c.asked.session), c.m.nameOf(c.asked.agent)
	c.id, c.q.agent = c.label.String(), c.agent.String()
	c.q.branch = branchName(c.m.keys.Ring, c.m.nameOf(c.asked.branch).String())
}

// protect marks the messages that the caller's function protects.
func protect(history []message.Message, f func(message.Message) bool) []message.Message {
	if f == nil {
		return history
	}
	out := append([]message.Message(nil), history...)
	for i := range out {
		out[i].Protected = out[i].Protected || f(out[i])
	}
	return out
}

func (c *call) run(ctx context.Context) (err error) {
	c.entered = time.Now()
	if err := c.open(ctx); err != nil {
		return err
	}
	defer func() { c.m.leave(c.s, c.lane, c.history) }()
	waiting := c.m.now()
	if err := c.lane.mu.Lock(ctx); err != nil {
		return err
	}
	defer c.lane.mu.Unlock()
	c.res.Timing.LaneWait = c.m.now().Sub(waiting)
	defer c.lane.clear()
	defer c.settle(0) // while the call holds its lane
	defer func() {
		if err != nil {
			c.s.billed(c.summaries.bill()) // a failed call has no bill of its own
		}
	}()
	c.note()
	before := *c.res
	for attempt := 1; ; attempt++ {
		c.lastAttempt, c.decided, c.floor, c.nextDue = attempt == attempts, false, 0, 0
		if err := c.look(ctx); err != nil {
			return err
		}
		err := c.decide(ctx)
		if err == nil {
			c.bill()
			c.sayAgent()
		}
		if !errors.Is(err, errStale) {
			c.sending(err)
			if err != nil {
				c.nothingDone()
			}
			return err
		}
		c.anew(before)
	}
}

func (c *call) open(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.id == "" {
		return ErrSession
	}
	if c.rules, err = newLegality(c.q.wire, c.history); err != nil {
		return err
	}
	if c.ep, err = c.m.epoch(ctx, c.q.epochKey); err != nil {
		return err
	}
	c.sayGuess()
	started := c.m.now()
	c.working = started
	if err := c.m.keyed(ctx, c.q); err != nil {
		return err
	}
	c.name()
	if c.s, err = c.m.sessionOf(ctx, c); err != nil {
		return err
	}
	c.res.Timing.Ledger = c.m.now().Sub(started)
	c.s.redactor.Name(c.agent, c.m.nameOf(c.q.branch))
	c.lane = c.s.lane(c.q.owner())
	c.startTrace(ctx)
	c.warnLate()
	return nil
}

// look computes the current view and its size. Steps of other processes are
// read in the background. Only a call that is about to compact waits for them.
func (c *call) look(ctx context.Context) error {
	started := c.m.now()
	c.working = started
	c.m.refresh(ctx, c.s)
	c.replay()
	c.estimate()
	if c.due() {
		missed, err := c.missed(ctx)
		if err != nil {
			return err
		}
		if missed {
			c.replay()
			c.estimate()
		}
	}
	c.emitEstimate(started)
	return nil
}

// due reports whether a compaction is due.
func (c *call) due() bool {
	return c.q.manual || c.bound() >= c.budget.Due(c.last) || c.tooLarge()
}

// replay applies the edits of earlier steps.
func (c *call) replay() {
	started := c.m.now()
	c.seen, c.seenEdits = len(c.s.snapshot()), c.s.lastEdit()
	c.now = c.lane.replay(c.s, c.history, c.q.owner(), c.ep.engine.Pins, c.ep.forms())
	c.replayLegally()
	c.last = 0
	if l := c.now.last; l != nil && l.Model == c.ep.name && l.Window == c.ep.window {
		c.last = max(l.After, l.Bound)
	}
	c.recalibrate()
	c.res.Replayed, c.res.Earlier = c.now.edits, c.earlier()
	c.res.Timing.Replay = c.m.now().Sub(started)
}

// estimate counts the tokens that would be sent.
func (c *call) estimate() {
	started := c.m.now()
	c.tools = c.ep.estimator.Tools(c.q.tools)
	c.fixed = c.tools + c.ep.estimator.Reply() + c.q.fixed
	c.budget = c.bounded(c.ep.budget)
	view := c.view()
	c.allot(view)
	c.res.Before = c.layersIn(view)
	c.res.After = c.res.Before
	c.res.TokensIn = c.res.Before.Total
	c.res.Model, c.res.MaxTokens, c.res.CountingUnit = c.ep.name, c.ep.window, c.ep.encoding
	c.res.Budget, c.res.Trigger, c.res.Target = c.budget.Cap, c.budget.Due(c.last), c.budget.Target
	c.res.Keep = c.ep.engine.Keep
	c.res.UpperBound = c.upperBound(view.Messages, c.res.Before.Total)
	c.res.Timing.Count = c.m.now().Sub(started)
}

// layers returns the tokens of messages by layer; costs are the tokens of each
// message.
func (c *call) layers(msgs []message.Message, costs []int) Layers {
	l := Layers{ToolsSchema: c.tools, Overhead: c.fixed - c.tools, Messages: len(msgs)}
	for i := range msgs {
		m := &msgs[i]
		*l.of(m.Role, m.Has(message.KindToolResult), m.Role == message.RoleAssistant && policy.IsSummary(*m)) += costs[i]
		l.Total += costs[i]
	}
	l.Total += c.fixed
	return l
}

// layersIn returns the layers of a view.
func (c *call) layersIn(v *policy.View) Layers {
	l := Layers{ToolsSchema: c.tools, Overhead: c.fixed - c.tools, Messages: len(v.Messages)}
	for i := range v.Messages {
		*l.of(v.Messages[i].Role, v.HasResult(i), standsIn(v, i)) += v.Tokens[i]
		l.Total += v.Tokens[i]
	}
	l.Total += c.fixed
	return l
}

// standsIn reports whether message i of a view stands for removed ones: a summary,
// or the notice where there is none.
func standsIn(v *policy.View, i int) bool {
	if v.Messages[i].Role != message.RoleSystem {
		return v.Summary(i)
	}
	_, notice := policy.ParseNotice(v.Messages[i])
	return notice && v.Owned(i)
}

func (l *Layers) of(role message.Role, result, standsIn bool) *int {
	switch {
	case standsIn:
		return &l.Summary
	case role == message.RoleSystem:
		return &l.System
	case role == message.RoleDeveloper:
		return &l.Developer
	case role == message.RoleTool, result:
		return &l.ToolResults
	case role == message.RoleAssistant:
		return &l.Assistant
	}
	return &l.User
}

// engineRequest returns the request to the engine.
func (c *call) engineRequest() policy.Request {
	return policy.Request{
		Conversation: c.now.conv, Fixed: c.fixed, Outside: c.outside, Budget: c.budget,
		Manual: c.q.manual, Estimate: c.q.dry, Legal: c.legal(), Recall: c.recalls(),
		View: c.now.seen.view, Costs: c.now.seen.costs, Sent: c.lane.sent.has, Ref: c.s.ref,
	}
}

// decide compacts if a compaction is due.
func (c *call) decide(ctx context.Context) error {
	total := c.bound()
	due := c.budget.Due(c.last)
	started := c.m.now()
	c.working = started
	q := c.engineRequest()
	switch {
	case c.q.manual:
		c.res.Reason = trace.ReasonManual
	case c.ep.cfg.Policy.When == policy.Never:
		c.res.Reason = trace.ReasonNever
		c.keepView(c.now.conv)
		c.emitDecision(started, nil)
		return nil
	case total >= due && due >= c.budget.Cap:
		c.res.Reason = trace.ReasonBudget
	case total >= due:
		c.res.Reason = trace.ReasonUsage
	case c.tooLarge():
		c.res.Reason = trace.ReasonBytes
	case c.choose():
		c.res.Reason = trace.ReasonEconomic
	default:
		c.res.Reason = trace.ReasonBelow
		if total >= c.budget.Trigger {
			c.waits(due)
		}
		c.prepare(ctx)
		if !c.ep.always() {
			c.keepView(c.now.conv)
			c.emitDecision(started, nil)
			return nil
		}
		q.Only = policy.Always
	}
	return c.compact(ctx, started, q)
}

// waits records that the view is above the trigger and the next compaction is due
// later, and whether the reason is that what must stay is above the target.
func (c *call) waits(due int) {
	c.res.Reason, c.nextDue = trace.ReasonWaiting, due
	if floor := c.view().Floor(); floor > c.budget.Target {
		c.res.Reason, c.floor = trace.ReasonFloor, floor
	}
}

// compact runs the engine and commits its outcome.
func (c *call) compact(ctx context.Context, started time.Time, q policy.Request) error {
	if !c.q.dry {
		if err := c.haveKey(ctx); err != nil {
			return err
		}
	}
	run := newRun(ctx, c)
	defer run.end()
	if q.Only != policy.Always { // a call that only runs the stages of every call doesn't wait for a slot
		if late, err := c.seat(ctx, &run.desk); late || err != nil {
			return c.standing(started, err)
		}
	}
	if !c.q.dry {
		c.s.study(c.lane.memo.unstudied(c.history))
	}
	engine, err := run.engine()
	if err != nil {
		return err
	}
	run.decision = func(v *policy.View) {
		c.res.Triggered = true
		c.emitDecision(started, v)
	}
	run.view = c.view()
	engine = c.aim(engine, &q)
	out, err := run.drive(ctx, engine, &q)
	run.measure(c.m.now().Sub(started))
	c.countTidied(out)
	if err != nil {
		c.discards(out)
		c.res.Reason, c.res.Triggered = reasonFor(err, c.res.Reason), true
		c.emitDecision(started, nil)
		return err
	}
	if !out.Changed() {
		return c.unchanged(started, run, q, out)
	}
	if onlyTidied(q, out) {
		return c.tidied(ctx, started, run, out)
	}
	if q.Only == policy.Always {
		c.res.Reason = trace.ReasonEveryCall
	}
	return c.carryOut(ctx, started, run, out)
}

// carryOut commits an outcome that changed something; a dry run only reports
// it.
func (c *call) carryOut(ctx context.Context, started time.Time, run *run, out *policy.Outcome) error {
	c.res.Triggered = true
	c.emitDecision(started, run.view)
	if c.q.dry {
		c.took(out)
		return nil
	}
	return c.commit(ctx, run, out)
}

// aim sets the target in a request, and returns the engine for it.
func (c *call) aim(engine *policy.Engine, q *policy.Request) *policy.Engine {
	q.Budget = c.budget
	if c.offer != nil {
		engine = narrowed(engine, *c.offer)
		q.Budget.Target, q.View = c.offer.Level, nil
	}
	if q.Only != policy.Always {
		q.Budget = c.aimed(q.Only)
	}
	if c.res.Reason == trace.ReasonBytes {
		q.Budget = q.Budget.OfTokensDone()
	}
	return engine
}

func reasonFor(err error, reason string) string {
	if errors.Is(err, ErrInsufficientBudget) {
		return trace.ReasonNoRoom
	}
	return reason
}

// unchanged reports why nothing was done although a compaction was due.
func (c *call) unchanged(started time.Time, r *run, q policy.Request, out *policy.Outcome) error {
	c.res.Triggered, c.decided, c.telling = false, false, stepTelling{}
	switch {
	case r.late:
		c.res.Reason = trace.ReasonLate
		c.res.Warnings = append(c.res.Warnings, strategy.ErrLate.Error()+": the view fits as it is; the next call has the summary")
	case q.Only == policy.Always:
		c.res.Reason = trace.ReasonBelow
	case c.q.manual:
		c.res.Reason = trace.ReasonNothingOld
	case c.offer != nil:
		c.res.Reason = trace.ReasonBelow
		c.nothingOffered()
	case c.res.Reason == trace.ReasonBytes: // sayTooLarge reports the rest
		c.res.Reason = trace.ReasonBelow
	default:
		c.res.Reason, c.floor = trace.ReasonFloor, out.View.Total()
		c.explain(out)
	}
	c.discards(out)
	c.keepView(c.now.conv)
	c.emitDecision(started, nil)
	return nil
}

// explain reports, once for each lane, why the session stays above the trigger.
func (c *call) explain(out *policy.Outcome) {
	if c.lane.explained {
		return
	}
	c.lane.explained = true
	total, bounded := out.View.Total(), ""
	if most := c.upperBound(out.View.Messages, total); most > total {
		bounded = fmt.Sprintf(" (the count is approximate: %d at most, and that is what is held against these)", most)
	}
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf(
		"the view costs %d tokens%s, the target is %d, and nothing more may be taken out: all of it is pinned, recent or the last user message; compaction waits until there is something, or until %d tokens",
		total, bounded, c.budget.Target, c.budget.Cap))
}

// bound returns the number that is compared with the trigger: the estimate, or
// the upper bound if calibration shows that the estimate can be low.
func (c *call) bound() int {
	return max(c.res.Before.Total, c.res.UpperBound)
}

func (ep *epoch) always() bool {
	for _, s := range ep.engine.Steps {
		if s.When == policy.Always {
			return true
		}
	}
	return false
}
