package policy

import (
	"context"
	"errors"
	"fmt"
	"sort"
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
	Floors bool             // the steps can take whole rounds out, so that a floor above the budget is an error at once
	Rigid  bool             // the keep counts are never shrunk
	Now    func() time.Time // what measures the stages; nil = they take no time

	// Least is what the last steps can bring a view down to, where that is not
	// its [View.Floor]. No stage may lift it above the budget.
	Least func(*View) int
}

// A Request is one run of the engine.
type Request struct {
	Conversation *Conversation
	Fixed        int // see [View]
	Budget       Budget
	Manual       bool
	Only         When // AtTrigger: all steps; Always: only those that work at every call
	Estimate     bool // ask estimators instead of spending money
}

// A Pass is what one stage did.
type Pass struct {
	Stage     string
	Recipe    Recipe
	Edits     []Edit
	Proposed  int // groups
	Applied   int
	Before    int // tokens
	After     int
	Started   time.Time
	Elapsed   time.Duration
	Summary   *SummaryInfo
	Err       error // of the stage, or a *BrokenError when its edits were thrown away
	Discarded bool
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
	v := NewView(c.Messages(), e.Pins, e.Cost)
	v.Fixed, v.Budget, v.Manual, v.Keep, v.Forms = q.Fixed, q.Budget, q.Manual, e.Keep, c.forms
	v.Rigid = e.Rigid
	v.Origins = c.Origin
	at := sync.OnceValue(func() map[int]int { return places(q.Conversation) })
	v.before = func(i int) message.Message {
		if k, ok := at()[c.items[i].src]; ok {
			return q.Conversation.items[k].m
		}
		return c.items[i].m
	}
	return v
}

// Run goes through the steps. The error is a *[BudgetError], or the
// context's; the outcome is what was reached until then.
func (e *Engine) Run(ctx context.Context, q Request) (*Outcome, error) {
	o := &Outcome{Conversation: q.Conversation, View: e.View(q.Conversation, q), Keep: e.Keep}
	if e.Floors && q.Only != Always && o.View.Total() > q.Budget.Cap {
		if floor := o.View.Floor(); floor > q.Budget.Cap {
			return o, o.refuse(floor)
		}
	}
	for _, s := range e.Steps {
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
		if err := e.step(ctx, s, q, o, goal); err != nil {
			return o, err
		}
	}
	if total := o.View.Total(); q.Only != Always && total > q.Budget.Cap {
		return o, o.refuse(total)
	}
	return o, nil
}

// goal returns what the view may cost after the step, and whether the step
// has anything to do.
func (s Step) goal(v *View) (goal int, due bool) {
	total := v.Total()
	switch {
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
		e.take(&p, proposal, q, o, goal)
	}
	p.Elapsed = e.now().Sub(p.Started)
	p.After = o.View.Total()
	if p.Proposed > 0 || p.Err != nil || p.Summary != nil {
		o.Passes = append(o.Passes, p)
	}
	return nil
}

// propose asks a stage. A stage that panics has failed, and nothing more: what
// stands in front of every model call must not take the agent down.
func propose(ctx context.Context, s Stage, v *View, estimate bool) (p Proposal, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = Proposal{}, fmt.Errorf("policy: stage %s panicked: %v", s.Name(), r)
		}
	}()
	if est, ok := s.(Estimator); ok && estimate {
		return est.Estimate(v)
	}
	return s.Propose(ctx, v)
}

// take applies the shortest run of groups that reaches the goal, and keeps
// the outcome if it breaks no promise.
func (e *Engine) take(p *Pass, proposal Proposal, q Request, o *Outcome, goal int) {
	n, edits, after, err := shortest(proposal, o, goal)
	if err == nil {
		view := e.View(after, q)
		if err = check(p.Stage, o.View, view, o.Conversation, after); err == nil {
			if e.lifts(o.View, view) {
				return // what it gains now would cost the view later
			}
			p.Applied, p.Edits = n, edits
			p.Recipe = o.Conversation.Record(p.Stage, edits, after)
			o.Conversation, o.View = after, view
			return
		}
	}
	p.Err, p.Discarded = err, true
}

// lifts reports whether edits raise the floor above the budget: a placeholder
// can cost more than the marker that a squeeze would leave.
func (e *Engine) lifts(before, after *View) bool {
	least := e.Least
	if least == nil && e.Floors {
		least = (*View).Floor
	}
	limit := before.Budget.Cap
	return least != nil && after.Total() > limit && least(after) > limit && least(before) <= limit
}

// shortest returns how many groups are taken, and the conversation with them.
// What more groups free is never less, so that it can be searched.
func shortest(proposal Proposal, o *Outcome, goal int) (int, []Edit, *Conversation, error) {
	groups := proposal.Groups
	edits := func(n int) []Edit {
		if proposal.Alternatives {
			return groups[n-1]
		}
		var all []Edit
		for _, g := range groups[:n] {
			all = append(all, g...)
		}
		return all
	}
	var failed error
	total := o.View.Total()
	n := 1 + sort.Search(len(groups)-1, func(k int) bool {
		c, err := o.Conversation.Apply(edits(k + 1))
		if err != nil {
			failed = errors.Join(failed, err)
			return false
		}
		return total-freed(o, c) <= goal
	})
	if failed != nil {
		return 0, nil, nil, failed
	}
	c, err := o.Conversation.Apply(edits(n))
	return n, edits(n), c, err
}

// freed returns by how much after is cheaper, without reading its structure.
func freed(o *Outcome, after *Conversation) int {
	n := o.View.Total() - o.View.Fixed
	at := map[int]int{}
	for i := range o.Conversation.items {
		if src := o.Conversation.items[i].src; src >= 0 {
			at[src] = i
		}
	}
	for k := range after.items {
		it := &after.items[k]
		if i, ok := at[it.src]; ok && it.src >= 0 && o.Conversation.items[i].m.Fingerprint() == it.m.Fingerprint() {
			n -= o.View.Tokens[i]
		} else {
			n -= o.View.Cost.Message(it.m)
		}
	}
	return n
}
