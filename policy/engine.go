package policy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
)

// A Goal says how far a step of the engine goes.
type Goal uint8

// Goals of a step.
const (
	ToTarget Goal = iota // until the view costs no more than the target
	ToBudget             // only above the budget, and down to it
	All                  // everything that is offered
	ToBytes              // only where the request has more bytes than it may, and down to [Budget.TargetBytes]
	InBytes              // the same down to half way between that and [Budget.MaxBytes]
)

// A Step is a stage with the goal it works for.
type Step struct {
	Stage Stage
	When  When // default AtTrigger
	Goal  Goal
	// Manual: a compaction that was asked for takes all that the stage offers.
	Manual bool
}

// An Engine applies the shortest run of proposed edits that reaches the goal,
// stage by stage. It checks the outcome of every stage, and throws a stage's
// edits away when they break a promise. An Engine is immutable and safe for
// concurrent use when its stages are.
type Engine struct {
	Steps  []Step
	Pins   Pins
	Keep   Keep
	Cost   Coster
	Floors bool             // a floor above the budget is an error at once, before any stage is asked
	Rigid  bool             // the keep counts are never shrunk
	Now    func() time.Time // what measures the stages; nil = they take no time

	// Dispatch are the tools whose dispatch blocks survive masking; nil = none.
	Dispatch DispatchTools

	// Name is what errors call the stages, "preset masking" for example; "" =
	// their names.
	Name string
}

// A Request is one run of the engine.
type Request struct {
	Conversation *Conversation
	Fixed        int // see [View]
	Outside      int // likewise
	Budget       Budget
	Manual       bool
	Only         When // AtTrigger: all steps; Always: only those that work at every call
	Estimate     bool // ask estimators instead of spending money
	Recall       bool // the model can ask for what a reference names

	Sent func(m *message.Message) bool       // see [View]
	Ref  func(of message.Fingerprint) string // likewise

	// View is that of Conversation, where the caller has it from [Engine.View] or
	// [Engine.Grow]; nil: it is read. Costs are what the first messages that came
	// in cost, as far as the caller knows. Both only spare work.
	View  *View
	Costs []int

	// Legal says what is wrong with a view where it goes: sources are the input
	// messages that its messages came from, -1 for those made here. Edits that
	// lead to an error are not made; fewer of them may be. Nil: nothing ever is.
	Legal func(view []message.Message, sources []int) error
}

func (q *Request) legal(c *Conversation) error {
	if q.Legal == nil {
		return nil
	}
	return q.Legal(c.Messages(), c.Sources())
}

// A Pass is what one stage did.
type Pass struct {
	Stage     string
	Recipe    Recipe
	Edits     []Edit
	Sources   []int // of the texts of Recipe: which input message each is of
	Proposed  int   // groups
	Applied   int
	Before    int // tokens
	After     int
	Started   time.Time
	Elapsed   time.Duration
	Summary   *SummaryInfo
	Err       error // of the stage, or a *BrokenError when its edits were thrown away
	Discarded bool

	illegal bool // edits were not made because of where the view goes
}

// An Outcome is what a run led to.
type Outcome struct {
	Conversation *Conversation
	View         *View // of Conversation
	Passes       []Pass
	Keep         Keep // the counts that were kept; smaller than asked for after a shrink
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
func (e *Engine) View(c *Conversation, q Request) *View {
	v := &View{Cost: e.Cost, rounder: new(message.Rounder)}
	v.read(c.Messages(), e.Pins, e.price(c, q.Costs))
	return e.bind(v, c, q)
}

// Grow returns the view of a conversation that begins as the one whose view v
// is, and has more messages at its end. v must not be used after that.
func (e *Engine) Grow(v *View, c *Conversation, q Request) *View {
	w := *v
	known := len(v.Messages)
	msgs := slices.Grow(v.Messages, c.Len()-known)
	for i := known; i < c.Len(); i++ {
		msgs = append(msgs, c.items.at(i).m)
	}
	w.read(msgs, e.Pins, e.price(c, q.Costs))
	return e.bind(&w, c, q)
}

// price says what message i of a conversation costs. One that is as it came in
// costs what is known of it.
func (e *Engine) price(c *Conversation, costs []int) func(i int) int {
	return func(i int) int {
		it := c.items.at(i)
		if it.src >= 0 && it.src < len(costs) && c.fates.at(it.src).decision == Kept {
			return costs[it.src]
		}
		return e.Cost.Message(it.m)
	}
}

// bind ties a view to the conversation that it is of, and to what is asked.
func (e *Engine) bind(v *View, c *Conversation, q Request) *View {
	v.Fixed, v.Outside, v.Budget, v.Manual, v.Keep, v.Forms = q.Fixed, q.Outside, q.Budget, q.Manual, e.Keep, c.forms
	v.Rigid, v.Recall, v.Sent, v.Ref, v.dispatch = e.Rigid, q.Recall, q.Sent, q.Ref, e.Dispatch
	v.reach = e.reach(0)
	v.Origins = c.Origin
	v.masks = func(i, p int) (masked, known bool) { return c.items.at(i).masks(p) }
	began := q.Conversation // and nothing else of q, which has a view of its own
	at := sync.OnceValue(func() placed { return places(began) })
	v.before = func(i int) message.Message {
		if k, ok := at().of(c.items.at(i).src); ok {
			return began.items.at(k).m
		}
		return c.items.at(i).m
	}
	return v
}

// Settle returns the view that a run led to as a caller may keep it for the next
// one ([Request.View]): of the conversation of q, and without what ties it to
// the run, the stages among it.
func (e *Engine) Settle(v *View, q Request) *View {
	w := *v
	return e.bind(&w, q.Conversation, q)
}

// first returns the view that a run begins with.
func (e *Engine) first(q Request) *View {
	if q.View == nil {
		return e.View(q.Conversation, q)
	}
	v := *q.View
	return e.bind(&v, q.Conversation, q)
}

// after returns the view that edits lead to.
func (e *Engine) after(o *Outcome, edits []Edit, after *Conversation, q Request) *View {
	if o.View.onlyResults(edits) {
		return e.bind(o.View.rewritten(after, edits), after, q)
	}
	return e.View(after, q)
}

// Run goes through the steps. The error is a *[BudgetError], or the
// context's; the outcome is what was reached until then.
func (e *Engine) Run(ctx context.Context, q Request) (*Outcome, error) {
	o := &Outcome{Conversation: q.Conversation, View: e.first(q), Keep: e.Keep}
	if e.Floors && q.Only != Always && o.View.Total() > q.Budget.most() {
		if floor := o.View.Floor(); floor > q.Budget.most() {
			return o, e.refuse(o, true)
		}
	}
	for k, s := range e.Steps {
		if err := ctx.Err(); err != nil {
			return o, err
		}
		if q.Only == Always && s.When != Always {
			continue
		}
		goal, due := s.goal(o.View)
		if !due {
			continue
		}
		o.View.reach = e.reach(k)
		if err := e.step(ctx, s, q, o, goal); err != nil {
			return o, err
		}
	}
	if total := o.View.Total(); q.Only != Always && total > q.Budget.most() {
		return o, e.refuse(o, false)
	}
	return o, nil
}

// goal returns what the view may cost after the step, and whether the step
// has anything to do.
func (s Step) goal(v *View) (goal int, due bool) {
	total := v.Total()
	switch {
	case s.Goal == ToBytes || s.Goal == InBytes:
		return total, v.Budget.MaxBytes > 0 && v.HasMedia() && v.Bytes() > v.Budget.bytes(s.Goal)
	case s.When == Always, s.Goal == All, v.Manual && s.Manual:
		return -1, true
	case s.Goal == ToBudget:
		return v.Budget.Cap, total > v.Budget.Cap
	}
	return v.Budget.Target, total > v.Budget.Target
}

// HasTarget reports whether a compaction aims for the target of the budget:
// not when all that is done at the trigger is done to get below the cap.
func (e *Engine) HasTarget() bool {
	target, budget := false, false
	for _, s := range e.Steps {
		if _, ok := s.Stage.(Duplicates); ok {
			continue // it works for whatever else there is
		}
		if s.Goal == ToBytes || s.Goal == InBytes {
			continue // that is no target of tokens
		}
		target = target || s.When != Always && s.Goal != ToBudget
		budget = budget || s.When != Always && s.Goal == ToBudget
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
	p.Elapsed = e.now().Sub(p.Started)
	p.After = o.View.Total()
	if p.Proposed > 0 || p.Err != nil || p.Summary != nil {
		o.Passes = append(o.Passes, p)
	}
	return nil
}

// A PanicError is what a stage failed with.
type PanicError struct {
	Stage string
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("policy: stage %s panicked: %v", e.Stage, e.Value)
}

// propose asks a stage. A stage that panics has failed, and nothing more: what
// stands in front of every model call must not take the agent down.
func propose(ctx context.Context, s Stage, v *View, estimate bool) (p Proposal, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *PanicError: // of work that was done elsewhere: it has the stack of that
			p, err = Proposal{}, r
		default:
			p, err = Proposal{}, &PanicError{Stage: s.Name(), Value: r, Stack: debug.Stack()}
		}
	}()
	if est, ok := s.(Estimator); ok && estimate {
		return est.Estimate(v)
	}
	return s.Propose(ctx, v)
}
