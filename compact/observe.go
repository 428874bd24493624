package compact

import (
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// Observe records the usage that the provider reported for the request that was made from
// res and sent unchanged. It adds the usage to the bill of the session, unless the usage
// contradicts the request. For models without a public tokenizer it also corrects later
// estimates, in bounded steps, and reports whether it did. Counts of other models are
// exact, so it returns false for them, although it adds their usage to the bill. A second
// usage for the same request, or one that differs too much, corrects nothing. With the
// result of a call that failed, whose request was sent unchanged, the usage is in the measured
// sums alone.
func (m *CompactManager) Observe(res *Result, u Usage) (corrected bool) {
	var err error // logged by rescue
	defer m.rescue("Observe", &err)
	if res != nil && res.observe.shown != nil && !u.Refused {
		res.observe.shown(u)
	}
	if res != nil && res.observe.billed != nil && !u.Refused {
		res.observe.billed(u)
	}
	if res != nil && u.Refused {
		res.unbill()
	}
	sent := u.PromptTokens + max(u.ClearedTokens, 0)
	if res == nil || res.observe.epoch == nil || sent <= res.observe.fixed || u.CompactedTokens > 0 || u.ToolRounds {
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

// aiming returns a budget for the estimate that allows for its error. The upper
// bound of a view within this budget also fits the cap and, if the stages can reach
// the target, the target.
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

// unbill takes the call out of the sums of its session. Only the first call of
// unbill has an effect.
func (r *Result) unbill() {
	if r.observe.refused != nil {
		r.observe.refused()
	}
}

// A Refusal is a provider's response that a request is too long.
type Refusal struct {
	Limit   int  // maximum number of tokens that the provider names; 0 = none
	Prompt  int  // tokens of the prompt by the provider's count; 0 = not reported
	Window  int  // window in tokens, by our count, for later requests; 0 = no smaller request is possible
	Retried bool // a smaller request was sent
}

// Refused emits an event that the provider refused the request made from res. Nothing
// was billed for it, so the call leaves the sums of its session. To make a smaller
// request, call Preflight with [WithWindow], after [CompactManager.Observe] with
// Usage.Refused: then nothing of the refused request counts as cached. Refused may be
// called from several goroutines. It ignores a res that is not the result of a call. The
// result of a call that failed, whose request was sent unchanged, is one.
func (m *CompactManager) Refused(res *Result, r Refusal) {
	var err error // logged by rescue
	defer m.rescue("Refused", &err)
	if res == nil || res.observe.later == nil {
		return
	}
	res.unbill()
	in, sent := res.counted()
	res.observe.later(trace.Refused{
		SessionID: res.Session, Agent: res.Agent, Model: res.Model, In: in, Estimated: sent,
		Measured: max(r.Prompt, 0), Limit: max(r.Limit, 0), Window: max(r.Window, 0), Retried: r.Retried,
	})
}

// Failed emits an event that the provider answered the request made from res with an error or a
// redirect, for another reason than the size of the prompt. status is the HTTP status; 0 means
// that there was no connection to the provider. Nothing was billed, so the call leaves the sums
// of its session. Failed may be called from several goroutines. It ignores a res that is not
// the result of a call. The result of a call that failed, whose request was sent unchanged, is one.
func (m *CompactManager) Failed(res *Result, status int) {
	var err error // logged by rescue
	defer m.rescue("Failed", &err)
	if res == nil || res.observe.later == nil {
		return
	}
	res.unbill()
	in, sent := res.counted()
	res.observe.later(trace.ProviderError{Model: res.Model, Status: status, In: in, Estimated: sent})
}

// counted returns the tokens of the history and of the view that the sums have for the call.
func (r *Result) counted() (in, sent int) {
	if r.observe.failed {
		return 0, 0
	}
	return r.TokensIn, r.After.Total
}

// ofStatus describes an answer that is not billed.
func ofStatus(status int) string {
	switch {
	case status == 0:
		return "NO CONNECTION"
	case status < 400:
		return fmt.Sprintf("REDIRECT %d", status)
	}
	return fmt.Sprintf("ERROR %d", status)
}

// happened emits an event about the request of the call, with the names of its
// session and agent, and with its cost in the sums. It renames the trace of the call, so
// that a list of traces shows what happened.
func (c *call) happened(p trace.Payload) {
	b, title := &c.charged, ""
	switch r := p.(type) {
	case trace.Refused:
		title = "REFUSED"
		r.SessionID, r.Agent = c.id, c.q.agent
		r.EstimatedUSD, r.WholeUSD, r.Relative = b.EstimatedUSD, b.WholeUSD, b.Relative
		p = r
	case trace.ProviderError:
		title = ofStatus(r.Status)
		r.SessionID, r.Agent = c.id, c.q.agent
		r.EstimatedUSD, r.WholeUSD, r.Relative = b.EstimatedUSD, b.WholeUSD, b.Relative
		p = r
	}
	e := c.event(p, c.m.now())
	if is := c.parent.Trace; c.title != "" && is != nil {
		e.Trace = c.traceInfo(title+": "+c.title, is.Start, is.End)
	}
	c.noteEvent(e)
}
