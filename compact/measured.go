package compact

import (
	"fmt"
	"time"

	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/trace"
)

// furthest is the maximum ratio between a provider's count of a prompt and ours,
// in either direction. A usage beyond it does not belong to that prompt, and is
// ignored.
const furthest = 4

// measured returns the function that records the usage of a call. It may be called
// at any time, by any goroutine; only the first call counts.
func (c *call) measured(b Bill) func(Usage) {
	a, card, s, tokens := &c.lane.account, c.ep.card, c.s, c.res.After.Total
	say, broken := c.usageEvent, c.broken
	at, done, expect := a.calls, false, card.Split(tokens, c.left).Cached
	return func(u Usage) {
		a.mu.Lock()
		again := done
		done = true
		latest := at == a.calls
		a.mu.Unlock()
		if again {
			return
		}
		if err := u.contradicts(tokens); err != nil {
			a.warn("usage", "the reported usage contradicts the request and is ignored: "+err.Error())
			return
		}
		billed := u.split(card, b.Estimated)
		cost := card.Cost(billed)
		if latest {
			a.observed(observedUsage{known: u.CacheKnown, cached: u.CachedTokens, expect: expect})
		}
		sum := s.billed(SessionBill{Measured: 1, MeasuredUSD: cost})
		say(trace.CallUsage{
			Estimated: tokens, Break: broken,
			Measured: billed.Prompt(), Cached: billed.Cached, Written: billed.Written + billed.WrittenHour, Output: billed.Output, CacheKnown: u.CacheKnown,
			Cleared: u.ClearedTokens, Compacted: u.CompactedTokens,
			MeasuredUSD: cost, EstimatedUSD: b.EstimatedUSD, WholeUSD: b.WholeUSD, Relative: b.Relative,
			SessionCalls: sum.Measured, SessionUSD: sum.MeasuredUSD,
		})
	}
}

// observed records the observed usage of the latest call.
func (a *account) observed(u observedUsage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = u
	if a.unread++; !u.known || u.cached > 0 {
		a.unread = 0
	}
}

// usageEvent emits the event of a call's usage to the exporters and the audit
// log.
func (c *call) usageEvent(p trace.CallUsage) {
	p.SessionID, p.Agent, p.Model = c.id, c.q.agent, c.ep.name
	c.tellLater(p, c.m.now())
}

// happened emits an event about the request of the call, with the names of its
// session and agent.
func (c *call) happened(p trace.Payload) {
	if r, ok := p.(trace.Refused); ok {
		r.SessionID, r.Agent = c.id, c.q.agent
		p = r
	}
	c.tellLater(p, c.m.now())
}

// tellLater emits an event that happened after the call to the exporters and
// the audit log.
func (c *call) tellLater(p trace.Payload, start time.Time) {
	c.noteEvent(c.event(p, start))
}

// noteEvent passes an event to the exporters and the audit log. It is safe for
// concurrent use.
func (c *call) noteEvent(e trace.Event) {
	c.export(e)
	c.s.audit.add(c.auditLine(e))
}

// contradicts returns an error if a usage can't belong to a request in which we counted
// a given number of tokens.
func (u Usage) contradicts(tokens int) error {
	parts := u.CachedTokens + u.WrittenTokens + u.WrittenHourTokens
	switch {
	case u.PromptTokens <= 0:
		return fmt.Errorf("a prompt of %d tokens", u.PromptTokens)
	case min(u.CachedTokens, u.WrittenTokens, u.WrittenHourTokens, u.OutputTokens, u.ClearedTokens, u.CompactedTokens, u.SummaryTokens) < 0:
		return fmt.Errorf("a negative number of tokens")
	case parts > u.PromptTokens:
		return fmt.Errorf("%d tokens were read from the cache or written into it, of a prompt of %d", parts, u.PromptTokens)
	case u.CompactedTokens > furthest*max(tokens, 256):
		return fmt.Errorf("%d tokens were read for a summary, but %d were counted", u.CompactedTokens, tokens)
	case u.CompactedTokens > 0: // the rest of the prompt can have any size
	case u.PromptTokens+u.ClearedTokens > furthest*max(tokens, 256) || tokens > furthest*max(u.PromptTokens+u.ClearedTokens, 256):
		return fmt.Errorf("a prompt of %d tokens, but %d were counted", u.PromptTokens, tokens)
	}
	return nil
}

// split returns the usage by price. If the provider does not report its cache, the
// prompt is split as in the estimate.
func (u Usage) split(card price.Card, estimated price.Usage) price.Usage {
	if u.CacheKnown {
		rest := u.PromptTokens - u.CachedTokens - u.WrittenTokens - u.WrittenHourTokens
		return price.Usage{Cached: u.CachedTokens, Written: u.WrittenTokens, WrittenHour: u.WrittenHourTokens, Fresh: rest + u.CompactedTokens, Output: u.OutputTokens + u.SummaryTokens}
	}
	out := card.Split(u.PromptTokens, estimated.Cached)
	out.Fresh += u.CompactedTokens
	out.Output = u.OutputTokens + u.SummaryTokens
	return out
}
