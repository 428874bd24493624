package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// A Usage is what a provider billed for one request.
type Usage struct {
	PromptTokens int // of the whole request, cached ones included

	// CacheKnown: the provider says what of the prompt was read from its cache and
	// written into it, 0 included. Without it the next three mean nothing.
	CacheKnown        bool
	CachedTokens      int // read from it
	WrittenTokens     int // written into it, where that has a price of its own, for its shorter lifetime
	WrittenHourTokens int // the same, for an hour

	OutputTokens int // of the answer, reasoning included; 0 = it does not say

	// ClearedTokens are those of the prompt that the provider left out by itself
	// before the model read it; PromptTokens are without them.
	ClearedTokens int
	// CompactedTokens is what the provider read for a summary of its own within this
	// request, and SummaryTokens what it wrote for it: both are billed on top. What
	// was sent is not known from PromptTokens then.
	CompactedTokens int
	SummaryTokens   int
}

// observation ties a result to what the provider will say of it.
type observation struct {
	epoch  *epoch
	id     message.Fingerprint
	fixed  int                 // tokens of the request that the caller said, which need no correction
	shown  func(measured int)  // says what a request was billed of which nothing was done; nil = it was
	later  func(trace.Payload) // tells of what happened to the request afterwards; nil = nobody does
	billed func(Usage)         // takes the usage into account; nil = nobody does
}

// Observe tells what the provider billed for the request that was made of res,
// unchanged. It corrects what the session is known to have cost, unless it
// contradicts the request. For models whose tokenizer is not public it corrects the
// estimates that follow, in bounded steps; for the others it does nothing. It
// reports whether the figure was used: one that comes twice, or is too far off
// to be of this request, is not.
func (m *CompactManager) Observe(res *Result, u Usage) (used bool) {
	var err error // which is in the log
	defer m.rescue("Observe", &err)
	if res != nil && res.observe.shown != nil && u.PromptTokens > 0 && u.CompactedTokens == 0 {
		res.observe.shown(u.PromptTokens + max(u.ClearedTokens, 0))
	}
	if res != nil && res.observe.billed != nil {
		res.observe.billed(u)
	}
	sent := u.PromptTokens + max(u.ClearedTokens, 0)
	if res == nil || res.observe.epoch == nil || sent <= res.observe.fixed || u.CompactedTokens > 0 {
		return false
	}
	return res.observe.epoch.calibrator.Observe(res.observe.id, sent-res.observe.fixed)
}

// upperBound returns what a request will hardly exceed. Where the count is
// exact that is the count.
func (c *call) upperBound(msgs []message.Message, total int) int {
	if c.ep.exact {
		return total
	}
	return max(total, c.ep.calibrator.Estimate(c.mix(msgs)).Upper+c.q.fixed)
}

// aiming is the budget of a compaction, with which what the view hardly exceeds
// fits as well, and is no more than the target, where the stages can make it as
// small.
func (c *call) aiming(b policy.Budget, only policy.When) policy.Budget {
	if c.ep.exact || only == policy.Always {
		return b
	}
	mix := c.mix(c.now.conv.Messages())
	within := func(limit int) int { return c.q.fixed + c.ep.calibrator.Within(limit-c.q.fixed, mix) }
	return b.Aiming(within(b.Cap), within(b.Target))
}

// mix is what calibration works on: all but what the caller counted.
func (c *call) mix(msgs []message.Message) token.Mix {
	mix := token.Mix{Fixed: c.fixed - c.q.fixed}
	for i := range msgs {
		mix = mix.Plus(c.ep.estimator.Mix(msgs[i]))
	}
	return mix
}

// sent notes the messages that go out, so that their bill can be observed.
func (c *call) sent(msgs []message.Message) {
	c.res.UpperBound = c.upperBound(c.res.Messages, c.res.After.Total)
	c.answer()
	if !c.q.dry && !c.q.observe {
		c.res.observe.later = c.happened
	}
	if c.ep.exact || c.q.dry {
		return
	}
	id := token.RequestID(msgs, c.q.tools)
	c.ep.calibrator.Sent(id, c.mix(msgs))
	c.res.observe.epoch, c.res.observe.id, c.res.observe.fixed = c.ep, id, c.q.fixed
}

// calibration is what the decision of this call used, for the ledger.
func (c *call) calibration() *token.Calibration {
	if c.ep.exact {
		return nil
	}
	s := c.ep.calibrator.State()
	return &s
}

// recalibrate goes on from what an earlier process had learned, where this one
// has not learned anything yet.
func (c *call) recalibrate() {
	if l := c.now.last; l != nil && l.Calibration != nil && l.Model == c.ep.name && c.ep.calibrator.State().Observations == 0 {
		c.ep.calibrator.Restore(*l.Calibration)
	}
}

// factor is what the count is multiplied by, learned from what the provider
// billed; 0 where the count is exact.
func (c *call) factor() float64 {
	if c.ep.exact {
		return 0
	}
	return c.ep.calibrator.Estimate(c.mix(c.now.conv.Messages())).Factor
}
