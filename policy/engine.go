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
	ToBudget             // only if the view exceeds the cap of the budget, and down to the cap
	All                  // take everything that is offered
	ToBytes              // only if the request exceeds the limit of bytes, and down to [Budget.TargetBytes]
	InBytes              // likewise, half way from [Budget.MaxBytes] to [Budget.TargetBytes]
)

// A Step is a stage with the goal it works for.
type Step struct {
	Stage Stage
	When  When // default AtTrigger
	Goal  Goal
	// Manual: in a manual compaction, take all that the stage offers.
	Manual bool
}

// An Engine applies the shortest run of proposed edits that reaches the goal,
// stage by stage. It checks the outcome of every stage, and discards edits that
// break a promise. An Engine is immutable, and safe for concurrent use if its
// stages are.
type Engine struct {
	Steps  []Step
	Pins   Pins
	Keep   Keep
	Cost   Coster
	Floors bool             // report a floor above the budget before asking any stage
	Rigid  bool             // the keep counts are never shrunk
	Now    func() time.Time // clock that times the stages; nil = no times

	// Dispatch names the tools whose dispatch blocks survive masking; nil = none.
	Dispatch DispatchTools

	// Name is how errors refer to the stages, for example "preset masking"; ""
	// = the names of the stages.
	Name string
}

// A Request holds the input of one run of the engine.
type Request struct {
	Conversation *Conversation
	Fixed        int // see [View]
	Outside      int // likewise
	Budget       Budget
	Manual       bool
	Only         When // AtTrigger: all steps; Always: only those that work at every call
	Estimate     bool // call Estimate where a stage has it, and spend no money
	Recall       bool // the model can fetch the original by its reference

	Sent func(m *message.Message) bool       // see [View]
	Ref  func(fp message.Fingerprint) string // likewise

	// View is the view of Conversation if the caller has it from [Engine.View]
	// or [Engine.Grow]; nil: the engine reads it. Costs are the known costs of
	// the first input messages. Both only save work.
	View  *View
	Costs []int

	// Legal returns an error if the provider would refuse a view. sources are
	// the indexes of the input messages that the view's messages came from, -1
	// for messages made by stages. The engine does not make edits that lead to
	// an error, but may make fewer of them. Nil: every view is legal.
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
	Edits     []Edit
	Sources   []int // the input message of each text recipe
	Proposed  int   // number of groups
	Applied   int
	Before    int // tokens
	After     int
	Started   time.Time
	Elapsed   time.Duration
	Summary   *SummaryInfo
	Err       error // of the stage, or a *BrokenError when its edits were thrown away
	Discarded bool

	illegal bool // edits were not made because the provider would refuse the view
}

// An Outcome is the result of a run.
type Outcome struct {
	Conversation *Conversation
	View         *View // of Conversation
	Passes       []Pass
	Keep         Keep // the keep counts in effect; a shrink makes them smaller
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

// Grow returns the view of c, given the view v of a conversation with the same
// first messages. v must not be used after that.
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

// price returns a function for the cost of message i. For an unedited message
// it uses the cost in costs, if there is one.
func (e *Engine) price(c *Conversation, costs []int) func(i int) int {
	return func(i int) int {
		it := c.items.at(i)
		if it.src >= 0 && it.src < len(costs) && c.fates.at(it.src).decision == Kept {
			return costs[it.src]
		}
		return e.Cost.Message(it.m)
	}
}

// bind ties a view to its conversation and to the request.
func (e *Engine) bind(v *View, c *Conversation, q Request) *View {
	v.Fixed, v.Outside, v.Budget, v.Manual, v.Keep, v.Forms = q.Fixed, q.Outside, q.Budget, q.Manual, e.Keep, c.forms
	v.Rigid, v.Recall, v.Sent, v.Ref, v.dispatch = e.Rigid, q.Recall, q.Sent, q.Ref, e.Dispatch
	v.reach = e.reach(0)
	v.Origins = c.Origin
	v.masks = func(i, p int) (masked, known bool) { return c.items.at(i).masks(p) }
	began := q.Conversation // capture nothing else of q, because q holds a view
	at := sync.OnceValue(func() placed { return places(began) })
	v.before = func(i int) message.Message {
		if k, ok := at().index(c.items.at(i).src); ok {
			return began.items.at(k).m
		}
		return c.items.at(i).m
	}
	return v
}

// Settle returns the resulting view of a run in a form that a caller may keep
// for the next run ([Request.View]): bound to the conversation of q, and free
// of references to the run and its stages.
func (e *Engine) Settle(v *View, q Request) *View {
	w := *v
	return e.bind(&w, q.Conversation, q)
}

// first returns the initial view of a run.
func (e *Engine) first(q Request) *View {
	if q.View == nil {
		return e.View(q.Conversation, q)
	}
	v := *q.View
	return e.bind(&v, q.Conversation, q)
}

// after returns the view after the edits.
func (e *Engine) after(o *Outcome, edits []Edit, after *Conversation, q Request) *View {
	if o.View.onlyResults(edits) {
		return e.bind(o.View.rewritten(after, edits), after, q)
	}
	return e.View(after, q)
}

// Run executes the steps. The error is a *[BudgetError] or the context's error;
// the outcome then holds the steps up to the error.
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

// HasTarget reports whether a compaction aims for the target of the budget. It
// does not if every step at the trigger only works down to the cap.
func (e *Engine) HasTarget() bool {
	target, budget := false, false
	for _, s := range e.Steps {
		if _, ok := s.Stage.(Duplicates); ok {
			continue // it has no target of its own
		}
		if s.Goal == ToBytes || s.Goal == InBytes {
			continue // its target is in bytes, not tokens
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

// A PanicError reports a panic of a stage.
type PanicError struct {
	Stage string
	Value any
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("policy: stage %s panicked: %v", e.Stage, e.Value)
}

// propose asks a stage for its proposal. A panic of the stage counts as its
// failure and no more, because compaction precedes every model call and must
// not take the agent down.
func propose(ctx context.Context, s Stage, v *View, estimate bool) (p Proposal, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *PanicError: // from another goroutine: it already has that stack
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
