package reduce

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/running"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Goals of a step that removes media until the request has a certain size in bytes. Such a
// step is due if the request has media and is larger than that size.
const (
	ToBytes = policy.All + 1 + iota // stops at [policy.Budget.TargetBytes]
	InBytes                         // stops half way between [policy.Budget.TargetBytes] and [policy.Budget.MaxBytes]
)

// A Step is a stage with the goal it works for.
type Step struct {
	Stage policy.Stage
	When  policy.When // default AtTrigger
	Goal  policy.Goal
	// Manual means that a manual compaction takes all that the stage offers.
	Manual bool
}

// An Engine applies the shortest run of proposed edits that reaches the goal,
// stage by stage. It checks the outcome of every stage, and discards edits that
// break a promise. An Engine is immutable, and safe for concurrent use if its
// stages are.
type Engine struct {
	Steps  []Step
	Pins   policy.Pins
	Keep   policy.Keep
	Cost   policy.Coster
	Floors bool             // a floor above the budget is reported before any stage runs
	Rigid  bool             // the keep counts are never shrunk
	Now    func() time.Time // clock that times the stages; nil = no times

	// Dispatch names the tools whose dispatch blocks survive masking; nil = none.
	Dispatch []string

	// Name is the common name of the stages in errors, for example "preset
	// masking"; "" = the names of the stages.
	Name string
}

// A Request holds the input of one run of the engine.
type Request struct {
	Conversation *Conversation
	Fixed        int // see [policy.View]
	Outside      int // see [policy.View]
	Budget       policy.Budget
	Manual       bool
	Only         policy.When // AtTrigger: all steps; Always: only the steps that work at every call
	Estimate     bool        // call Estimate in place of Propose if a stage has this method, in order to spend no money
	Recall       bool        // the model can fetch the original by its reference

	Sent func(m *message.Message) bool       // see [policy.View]
	Ref  func(fp message.Fingerprint) string // see [policy.View]

	// View is the view of Conversation, if the caller got one from [Engine.View] or [Engine.Grow].
	// If it is nil, the engine computes it. Costs are the known costs of the first input messages.
	// View and Costs only save work.
	View  *policy.View
	Costs []int

	// Legal returns an error if the provider would refuse a view. sources are the
	// indexes of the input messages that the view's messages came from, -1 for
	// messages made by stages. The engine does not make edits that lead to an
	// error, but may make fewer of them. If Legal is nil, every view is legal.
	Legal func(view []message.Message, sources []int) error
}

func (q *Request) legal(c *Conversation) error {
	if q.Legal == nil {
		return nil
	}
	return q.Legal(c.Messages(), c.Sources())
}

// A Pass reports what one stage did.
type Pass struct {
	Stage     string
	Recipe    Recipe
	Edits     []policy.Edit
	Sources   []int // index of the input message of each text recipe
	Proposed  int   // number of proposed groups
	Applied   int   // number of applied groups
	Before    int   // tokens before the stage
	After     int   // tokens after the stage
	Started   time.Time
	Elapsed   time.Duration
	Summary   *policy.SummaryInfo
	Err       error // error of the stage, or a *BrokenError if its edits were discarded
	Discarded bool

	illegal bool // edits were not made because the provider would refuse the view
}

// An Outcome is the result of a run.
type Outcome struct {
	Conversation *Conversation
	View         *policy.View // view of Conversation
	Passes       []Pass
	Keep         policy.Keep // the keep counts in effect; a shrink lowers them

	later []policy.Stage // stages of the current step and of the steps after it
}

// Changed reports whether any edit was applied.
func (o *Outcome) Changed() bool {
	for _, p := range o.Passes {
		if p.Applied > 0 {
			return true
		}
	}
	return false
}

// View reads the structure of a conversation.
func (e *Engine) View(c *Conversation, q Request) *policy.View {
	v := &policy.View{Cost: e.Cost}
	v.Extend(c.Messages(), e.Pins, e.price(c, q.Costs))
	return e.bind(v, c, q, e.later(0))
}

// Grow returns the view of c, given the view v of a conversation with the same
// first messages. v must not be used after that.
func (e *Engine) Grow(v *policy.View, c *Conversation, q Request) *policy.View {
	w := *v
	known := len(v.Messages)
	msgs := slices.Grow(v.Messages, c.Len()-known)
	for i := known; i < c.Len(); i++ {
		msgs = append(msgs, c.items.at(i).m)
	}
	w.Extend(msgs, e.Pins, e.price(c, q.Costs))
	return e.bind(&w, c, q, e.later(0))
}

// price returns a function for the cost of message i. For an unedited message
// it uses the cost in costs, if there is one.
func (e *Engine) price(c *Conversation, costs []int) func(i int) int {
	return func(i int) int {
		it := c.items.at(i)
		if it.src >= 0 && it.src < len(costs) && c.fates.at(it.src).decision == policy.Kept {
			return costs[it.src]
		}
		return e.Cost.Message(it.m)
	}
}

// bind ties a view to its conversation, to the request and to the stages that will still
// work on it.
func (e *Engine) bind(v *policy.View, c *Conversation, q Request, later []policy.Stage) *policy.View {
	v.Fixed, v.Outside, v.Budget, v.Manual, v.Keep, v.Forms = q.Fixed, q.Outside, q.Budget, q.Manual, e.Keep, c.forms
	v.Rigid, v.Recall, v.Sent, v.Ref = e.Rigid, q.Recall, q.Sent, q.Ref
	v.Origins = c.Origin
	began := q.Conversation // capture nothing else of q, because q holds a view
	at := sync.OnceValue(func() indexMap { return places(began) })
	v.Bind(running.Run{
		Dispatch: e.Dispatch,
		Masks:    func(i, p int) (masked, known bool) { return c.items.at(i).masks(p) },
		Before: func(i int) message.Message {
			if k, ok := at().index(c.items.at(i).src); ok {
				return began.items.at(k).m
			}
			return c.items.at(i).m
		},
	})
	v.SetLater(later)
	return v
}

// Settle returns the resulting view of a run in a form that a caller may keep
// for the next run ([Request.View]): bound to the conversation of q, and free
// of references to the run and its stages.
func (e *Engine) Settle(v *policy.View, q Request) *policy.View {
	w := *v
	return e.bind(&w, q.Conversation, q, e.later(0))
}

// first returns the initial view of a run.
func (e *Engine) first(q Request) *policy.View {
	if q.View == nil {
		return e.View(q.Conversation, q)
	}
	v := *q.View
	return e.bind(&v, q.Conversation, q, e.later(0))
}

// after returns the view after the edits, on which the later stages work.
func (e *Engine) after(o *Outcome, edits []policy.Edit, after *Conversation, q Request, later []policy.Stage) *policy.View {
	if onlyResults(o.View, edits) {
		return e.bind(rewritten(o.View, after, edits), after, q, later)
	}
	v := &policy.View{Cost: e.Cost}
	v.Extend(after.Messages(), e.Pins, e.price(after, q.Costs))
	return e.bind(v, after, q, later)
}

// later returns the stages of the steps from index from on, without those that
// ignore the token budget.
func (e *Engine) later(from int) []policy.Stage {
	stages := make([]policy.Stage, 0, len(e.Steps))
	for _, s := range e.Steps[from:] {
		if s.Goal != ToBytes && s.Goal != InBytes {
			stages = append(stages, s.Stage)
		}
	}
	return stages
}

// Run executes the steps. The error is a *[policy.BudgetError] or the context's error;
// the outcome then holds the steps up to the error.
func (e *Engine) Run(ctx context.Context, q Request) (*Outcome, error) {
	o := &Outcome{Conversation: q.Conversation, View: e.first(q), Keep: e.Keep}
	if e.Floors && q.Only != policy.Always && o.View.Total() > q.Budget.Most() {
		if floor := o.View.Floor(); floor > q.Budget.Most() {
			return o, e.refuse(o, true)
		}
	}
	for k, s := range e.Steps {
		if err := ctx.Err(); err != nil {
			return o, err
		}
		if q.Only == policy.Always && s.When != policy.Always {
			continue
		}
		goal, due := s.goal(o.View)
		if !due {
			continue
		}
		o.later = e.later(k)
		o.View.SetLater(o.later)
		if err := e.step(ctx, s, q, o, goal); err != nil {
			return o, err
		}
	}
	if total := o.View.Total(); q.Only != policy.Always && total > q.Budget.Most() {
		return o, e.refuse(o, false)
	}
	return o, nil
}

// refuse returns the error for a smallest view that does not fit, see
// [policy.View.Refusal].
func (e *Engine) refuse(o *Outcome, floor bool) *policy.BudgetError {
	o.View.SetLater(e.later(0))
	illegal := slices.ContainsFunc(o.Passes, func(p Pass) bool { return p.illegal })
	return o.View.Refusal(floor, e.Name, o.Conversation.Source, illegal)
}

// goal returns the largest cost of the view after the step, and whether the step has
// anything to do.
func (s Step) goal(v *policy.View) (goal int, due bool) {
	total := v.Total()
	switch {
	case s.Goal == ToBytes || s.Goal == InBytes:
		return total, v.Budget.MaxBytes > 0 && v.HasMedia() && v.Bytes() > bytesOf(v.Budget, s.Goal)
	case s.When == policy.Always, s.Goal == policy.All, v.Manual && s.Manual:
		return -1, true
	case s.Goal == policy.ToBudget:
		return v.Budget.Cap, total > v.Budget.Cap
	}
	return v.Budget.Target, total > v.Budget.Target
}

// HasTarget reports whether a compaction aims for the target of the budget. It returns
// false if every step at the trigger only works down to the cap.
func (e *Engine) HasTarget() bool {
	target, budget := false, false
	for _, s := range e.Steps {
		if _, ok := s.Stage.(policy.Duplicates); ok {
			continue // the step has no separate target
		}
		if s.Goal == ToBytes || s.Goal == InBytes {
			continue // the target of this step is in bytes, not tokens
		}
		target = target || s.When != policy.Always && s.Goal != policy.ToBudget
		budget = budget || s.When != policy.Always && s.Goal == policy.ToBudget
	}
	return target || !budget
}

func (e *Engine) now() time.Time {
	if e.Now == nil {
		return time.Time{}
	}
	return e.Now()
}

func (e *Engine) step(ctx context.Context, s Step, q Request, o *Outcome, goal int) error {
	p := Pass{Stage: s.Stage.Name(), Before: o.View.Total(), Started: e.now()}
	o.View.Goal = goal
	proposal, err := propose(ctx, s.Stage, o.View, q.Estimate)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.Proposed, p.Summary, p.Err = len(proposal.Groups), proposal.Summary, err
	if err == nil && len(proposal.Groups) > 0 {
		e.take(&p, proposal, q, o, s.reached(o, goal))
	}
	if len(proposal.Failed) > 0 {
		p.Err = errors.Join(append([]error{p.Err}, proposal.Failed...)...)
	}
	p.Elapsed = max(0, e.now().Sub(p.Started)) // the clock can run backwards
	p.After = o.View.Total()
	if p.Proposed > 0 || p.Err != nil || p.Summary != nil {
		o.Passes = append(o.Passes, p)
	}
	return nil
}

// propose asks a stage for its proposal. A panic of the stage only counts as a failure
// of the stage: compaction precedes every model call, and must not end the agent.
func propose(ctx context.Context, s policy.Stage, v *policy.View, estimate bool) (p policy.Proposal, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *policy.PanicError: // from another goroutine; it already has its stack
			p, err = policy.Proposal{}, r
		default:
			p, err = policy.Proposal{}, &policy.PanicError{Stage: s.Name(), Value: r, Stack: debug.Stack()}
		}
	}()
	if est, ok := s.(policy.Estimator); ok && estimate {
		return est.Estimate(v)
	}
	return s.Propose(ctx, v)
}

// rewritten returns the view after edits that change only texts of tool results. Such
// edits keep the structure of the view. after is the edited conversation.
func rewritten(v *policy.View, after *Conversation, edits []policy.Edit) *policy.View {
	w := *v
	w.Messages, w.Tokens = roomy(v.Messages), roomy(v.Tokens)
	for k := range edits {
		i := edits[k].Text.Index
		w.Messages[i] = after.items.at(i).m
		w.Tokens[i] = v.Cost.Message(w.Messages[i])
	}
	return &w
}

// roomy returns a copy with spare capacity for the elements that later calls append.
func roomy[T any](s []T) []T {
	return append(make([]T, 0, len(s)+pageLen), s...)
}

// onlyResults reports whether edits change only texts of tool results.
func onlyResults(v *policy.View, edits []policy.Edit) bool {
	for k := range edits {
		t := edits[k].Text
		if t == nil || edits[k].Cut != nil || v.Messages[t.Index].Parts[t.Part].Kind != message.KindToolResult {
			return false
		}
	}
	return true
}
