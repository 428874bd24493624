package compact

import (
	"context"
	"math"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/strategy"
)

// A summary takes its model some seconds. Where it is known that a compaction
// comes soon, it is written beside the calls, of what the view is by then. The
// call that compacts takes it if all that it is of is still there, and the same;
// what came since stays as it is. Nothing of a session changes before that, so
// that a summary nobody takes leaves no trace but its price.

// ahead is what a summary was prepared for. The lane's lock guards it.
type ahead struct {
	ep    *epoch
	offer *policy.Offer // of the economic trigger; nil = the window's
	at    int           // tokens of the view
}

// tries is how often at most a session asks whether there is anything to
// summarize, from the first amount to that at which a call compacts.
const tries = 4

// mostLost is how many summaries in a row may be prepared for nothing. A system
// prompt that tells the time makes another history of each call.
const mostLost = 2

// astray notes that the history is not that of the call before.
func (l *lane) astray() {
	if l.ahead != nil && l.flights.Waiting() {
		l.lost++
	}
	l.ahead, l.reading = nil, nil
}

// prepare lets a summary begin that a call is expected to need before long,
// unless there is one that may serve.
func (c *call) prepare(ctx context.Context) {
	offer, is := c.expects()
	if !is || c.lane.lost >= mostLost || c.prepared() || !c.readAhead(ctx) {
		return
	}
	c.lane.ahead = &ahead{ep: c.ep, offer: offer, at: c.res.Before.Total}
	c.s.study(c.lane.memo.unstudied(c.history))
	run := newRun(ctx, c)
	defer run.end()
	run.ahead, run.driven = true, ctx
	engine, err := run.engine()
	if err != nil {
		return
	}
	q := c.engineRequest()
	q.Budget = c.aimed(q.Only)
	// As much goes as then, when there will be more: else what masks free would
	// be enough now, and then not.
	q.Budget.Target = max(q.Budget.Target-max(c.budget.Due(c.last)-c.bound(), 0), 1)
	if offer != nil {
		engine = narrowed(engine, *offer)
		q.Budget.Target, q.View = offer.Level, nil
	}
	// What the stages offer is given up: the call that compacts asks them again.
	out, _ := engine.Run(ctx, q)
	for i := range out.Passes {
		c.m.logPanic(out.Passes[i].Err)
	}
}

// expects reports whether a call is expected to compact before long, and what
// the economic trigger will choose then.
func (c *call) expects() (offer *policy.Offer, is bool) {
	if c.q.dry || c.q.observe || !c.writesAhead() {
		return nil, false
	}
	if float64(c.bound()) >= c.ep.cfg.Policy.PreparePct*float64(c.budget.Due(c.last)) {
		return nil, true
	}
	return c.soon, c.soon != nil
}

// prepared reports whether a summary is being written, or was, of what the
// history still is; or that there was nothing to write, a moment ago.
func (c *call) prepared() bool {
	a := c.lane.ahead
	if a == nil || a.ep != c.ep {
		return false
	}
	least := (1 - c.ep.cfg.Policy.PreparePct) * float64(a.at) / tries
	return c.lane.flights.Waiting() || float64(c.res.Before.Total-a.at) < least
}

// written reports whether there is a summary for an offer, or will be.
func (c *call) written(o policy.Offer) bool {
	a := c.lane.ahead
	return a != nil && a.ep == c.ep && a.offer != nil && o.Cut && a.offer.Cut &&
		a.offer.Keep == o.Keep && a.offer.Mask == o.Mask && c.lane.flights.Waiting()
}

// before returns an offer that will be due before long, and pay and be safe then:
// with as much more of what either is held against.
func (c *call) before(s price.Stock, costs price.Candidate, o policy.Offer, v price.Verdict) *policy.Offer {
	share := c.ep.cfg.Policy.PreparePct
	if !o.Cut || math.IsInf(v.Due, 1) || float64(s.Tokens) < share*v.Due {
		return nil
	}
	s.Tokens, s.Horizon, s.Raw = max(s.Tokens, int(math.Ceil(v.Due))), s.Horizon/share, s.Raw/share
	if then := c.ep.card.Judge(s, costs); !then.Chosen(s) {
		return nil
	}
	return &o
}

// writesAhead reports whether summaries are written that take time, and may be
// written before they are needed: not where each call may change what they are
// of, and not with the agent's own model, which is asked behind its last request.
func (c *call) writesAhead() (writes bool) {
	if p := &c.ep.cfg.Policy; !p.Background || p.PreparePct >= 1 {
		return false
	}
	for _, s := range c.ep.engine.Steps {
		switch stage := s.Stage.(type) {
		case *strategy.Stage:
			writes = stage.Remote()
		case tidy.Stage, policy.Truncate: // of what has just come
		default:
			if s.When == policy.Always {
				return false
			}
		}
	}
	return writes
}
