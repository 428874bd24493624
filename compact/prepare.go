package compact

import (
	"context"
	"math"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/price"
)

// A model needs seconds for a summary. If a compaction is expected soon, the summary is
// written in the background, from the current view. The call that compacts uses it if
// the summarized messages are unchanged; it keeps the messages that came later. Until then
// the session does not change, so an unused summary only costs its price.

// tries limits how often a session searches for text to summarize between the
// first attempt and the compaction.
const tries = 4

// mostLost is the number of unused summaries after which no summary is prepared until
// the lane's next step. For example, a system prompt with a clock makes each history a
// new one.
const mostLost = 2

// prepare starts a summary that a later call is expected to need, unless a
// usable one exists.
func (c *call) prepare(ctx context.Context) {
	offer, is := c.expects()
	if !is || c.lane.lost >= mostLost || c.isPrepared() || !c.readAhead(ctx) {
		return
	}
	c.lane.ahead = &expectedCompaction{ep: c.ep, offer: offer, at: c.res.Before.Total}
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
	// The target is lowered by the expected growth. Otherwise masks could
	// suffice now, but not at the time of the compaction.
	q.Budget.Target = max(q.Budget.Target-max(c.budget.Due(c.last)-c.bound(), 0), 1)
	if offer != nil {
		engine = narrowed(engine, *offer)
		q.Budget.Target, q.View = offer.Level, nil
	}
	// The outcome is discarded: the call that compacts runs the stages again.
	out, _ := engine.Run(ctx, q)
	for i := range out.Passes {
		c.m.logPanic(out.Passes[i].Err)
	}
}

// expects reports whether a compaction is expected soon, and returns the offer
// that the economic trigger will choose.
func (c *call) expects() (offer *policy.Offer, is bool) {
	if c.q.dry || c.q.observe || !c.writesAhead() {
		return nil, false
	}
	if float64(c.bound()) >= c.ep.cfg.Policy.PreparePct*float64(c.budget.Due(c.last)) {
		return nil, true
	}
	return c.soon, c.soon != nil
}

// isPrepared reports whether a summary for this history is ready or being
// written, or whether there was nothing to summarize recently.
func (c *call) isPrepared() bool {
	a := c.lane.ahead
	if a == nil || a.ep != c.ep {
		return false
	}
	least := (1 - c.ep.cfg.Policy.PreparePct) * float64(a.at) / tries
	return c.lane.flights.Waiting() || float64(c.res.Before.Total-a.at) < least
}

// hasSummaryFor reports whether a summary for an offer is ready or being written.
func (c *call) hasSummaryFor(o policy.Offer) bool {
	a := c.lane.ahead
	return a != nil && a.ep == c.ep && a.offer != nil && o.Cut && a.offer.Cut &&
		a.offer.Keep == o.Keep && a.offer.Mask == o.Mask && c.lane.flights.Waiting()
}

// before extrapolates tokens, horizon and cost, and returns the offer if it will be
// due soon and will then pay and be safe; otherwise nil.
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

// writesAhead reports whether summaries can be written in the background. They
// need a model, and a preset whose stages don't change old messages in every
// call. The agent's own model can't write them, because it needs its last
// request.
func (c *call) writesAhead() (writes bool) {
	if p := &c.ep.cfg.Policy; !p.Background || p.PreparePct >= 1 {
		return false
	}
	for _, s := range c.ep.engine.Steps {
		switch stage := s.Stage.(type) {
		case *summarize.Stage:
			writes = stage.Remote()
		case tidy.Stage, policy.Truncate: // these stages change only new messages
		default:
			if s.When == policy.Always {
				return false
			}
		}
	}
	return writes
}
