package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// A Usage holds the token counts that a provider billed for one request.
type Usage struct {
	PromptTokens int // of the whole request, cached ones included

	// CacheKnown: the provider reported the cached tokens, possibly 0. Otherwise
	// the next three fields have no meaning.
	CacheKnown        bool
	CachedTokens      int // tokens read from the cache
	WrittenTokens     int // tokens written into the cache for the shorter lifetime, if that lifetime has its own price
	WrittenHourTokens int // the same, for an hour

	OutputTokens int // of the answer, reasoning included; 0 = not reported

	// ClearedTokens are tokens that the provider itself removed from the prompt
	// before the model read it. PromptTokens does not include them.
	ClearedTokens int
	// CompactedTokens and SummaryTokens are the tokens that the provider read and
	// wrote for its own summary within this request, which it bills in addition.
	// PromptTokens then does not show the number of sent tokens.
	CompactedTokens int
	SummaryTokens   int

	// Refused: the provider counted the prompt and refused it, so nothing was billed.
	// Such a usage only corrects later estimates.
	Refused bool
}

// observation connects a result with the usage that is observed later.
type observation struct {
	epoch  *epoch
	id     message.Fingerprint
	fixed  int                 // tokens that the caller added, which need no correction
	shown  func(Usage)         // emits the usage of a request that was only observed; nil = the request was not observed
	later  func(trace.Payload) // emits later events about the request; nil = no events
	billed func(Usage)         // records the usage; nil = not recorded
}

// Observe takes the usage that the provider reported for the request made from res,
// sent unchanged. It adds the usage to the bill of the session, unless the usage
// contradicts the request. For models without a public tokenizer it also corrects
// later estimates, in bounded steps. It reports whether the usage was used. A
// second usage for the same request, or one that differs too much, is not used.
func (m *CompactManager) Observe(res *Result, u Usage) (used bool) {
	var err error // logged by rescue
	defer m.rescue("Observe", &err)
	if res != nil && res.observe.shown != nil && !u.Refused {
		res.observe.shown(u)
	}
	if res != nil && res.observe.billed != nil && !u.Refused {
		res.observe.billed(u)
	}
	sent := u.PromptTokens + max(u.ClearedTokens, 0)
	if res == nil || res.observe.epoch == nil || sent <= res.observe.fixed || u.CompactedTokens > 0 {
		return false
	}
	return res.observe.epoch.calibrator.Observe(res.observe.id, sent-res.observe.fixed)
}

// upperBound returns a number of tokens that a request is unlikely to exceed.
// For an exact count, it is the count.
func (c *call) upperBound(msgs []message.Message, total int) int {
	if c.ep.exact {
		return total
	}
	return max(total, c.ep.calibrator.Estimate(c.mix(msgs)).Upper+c.q.fixed)
}

// aiming returns a budget for the estimate. The upper bound of a view within this
// budget also fits the cap and, if the stages can reach the target, the target.
func (c *call) aiming(b policy.Budget, only policy.When) policy.Budget {
	if c.ep.exact || only == policy.Always {
		return b
	}
	mix := c.mix(c.now.conv.Messages())
	within := func(limit int) int { return c.q.fixed + c.ep.calibrator.Within(limit-c.q.fixed, mix) }
	return b.Aiming(within(b.Cap), within(b.Target))
}

// mix returns the parts of a request that calibration corrects: all but the
// tokens that the caller added.
func (c *call) mix(msgs []message.Message) token.Mix {
	mix := token.Mix{Fixed: c.fixed - c.q.fixed}
	for i := range msgs {
		mix = mix.Plus(c.ep.estimator.Mix(msgs[i]))
	}
	return mix
}

// sent records the messages of the view, so that their usage can be observed.
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

// calibration returns the calibration that this call used, for the ledger.
func (c *call) calibration() *token.Calibration {
	if c.ep.exact {
		return nil
	}
	s := c.ep.calibrator.State()
	return &s
}

// recalibrate restores the calibration of an earlier process if this one has no
// observations.
func (c *call) recalibrate() {
	if l := c.now.last; l != nil && l.Calibration != nil && l.Model == c.ep.name && c.ep.calibrator.State().Observations == 0 {
		c.ep.calibrator.Restore(*l.Calibration)
	}
}

// factor returns the learned correction factor of the count; 0 if the count is
// exact.
func (c *call) factor() float64 {
	if c.ep.exact {
		return 0
	}
	return c.ep.calibrator.Estimate(c.mix(c.now.conv.Messages())).Factor
}
