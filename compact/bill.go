package compact

import (
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// bill records the cost of the call. The call must hold the lock of its lane.
func (c *call) bill() {
	c.sayPrices()
	if c.q.dry {
		return
	}
	c.price()
	b := c.res.Bill
	if b == nil {
		return
	}
	b.Session = c.m.bill(c.s, c.unit(), b.one())
	c.lane.account.recordCall(c)
	once := &outcomeOnce{at: c.lane.account.calls}
	if c.q.observe {
		c.res.observe.billed = c.noticed(once)
		return
	}
	c.charged = *b
	c.res.observe.billed, c.res.observe.refused = c.measured(*b, once), c.unbilled(once)
}

// price estimates the cost of the call, and its cost with the whole history,
// unless that is done already.
func (c *call) price() {
	if c.res.Bill != nil || !c.ep.countsTokens() {
		return
	}
	card := c.ep.card
	same, whole := c.lane.account.cached(c)
	marked, markedWhole := c.lane.account.toMarks(c)
	b := &Bill{
		Prices: card.String(), Relative: card.Relative,
		Estimated: card.SplitMarked(c.res.After.Total, marked, same), Whole: card.SplitMarked(c.res.TokensIn, markedWhole, whole),
		SummaryUSD: c.summaries.usd, SummaryEstimatedUSD: c.summaries.estimated, SummaryPrices: c.summaries.prices,
	}
	b.EstimatedUSD, b.WholeUSD = card.Cost(b.Estimated), card.Cost(b.Whole)
	b.Session = c.s.billed(c.unit(), SessionBill{}).Plus(b.one())
	c.res.Bill = b
}

// unit returns the unit of the call's costs.
func (c *call) unit() string { return unitOf(c.ep.card, c.ep.name) }

// Bill returns the sum of the bills of all sessions in this process, in US dollars. It
// excludes calls of models without known prices, and observed calls. After Close it
// includes the summaries that Close discarded.
func (m *CompactManager) Bill() SessionBill { return m.spent.total() }

// measured returns the function that records the usage of a call. It may be called
// at any time, by any goroutine; only its first call has an effect.
func (c *call) measured(b Bill, once *outcomeOnce) func(Usage) {
	a, card, s, unit, tokens := &c.lane.account, c.ep.card, c.s, c.unit(), c.res.After.Total
	m := c.m
	say, broken, reaches := c.usageEvent, c.broken, c.reaches
	expect, marked := card.Split(tokens, c.left).Cached, a.toLastMark(c)
	return func(u Usage) {
		first, latest := once.is(a)
		if !first {
			return
		}
		if err := u.contradicts(tokens); err != nil {
			a.warn("usage", "the reported usage contradicts the request and is ignored: "+err.Error())
			return
		}
		billed := u.split(card, b.Estimated)
		cost := card.Cost(billed)
		if latest && !u.ToolRounds { // with ToolRounds, a later prompt of the request reads the cache that an earlier one wrote
			seen := observedUsage{known: u.CacheKnown, cached: u.CachedTokens, expect: expect}
			if seen.known && broken == nil && seen.cached < expect/2 && !reaches() {
				a.outOfReach(seen.cached, expect)
				seen.known = false
			}
			a.marksOnTheWay(u.CachedTokens, marked)
			a.observed(seen)
		}
		sum := m.bill(s, unit, SessionBill{Measured: 1, MeasuredUSD: cost})
		say(trace.CallUsage{
			Estimated: tokens, Break: broken,
			Measured: billed.Prompt(), Cached: billed.Cached, Written: billed.Written + billed.WrittenHour, Output: billed.Output, CacheKnown: u.CacheKnown,
			Cleared: u.ClearedTokens, Compacted: u.CompactedTokens, ToolRounds: u.ToolRounds,
			MeasuredUSD: cost, EstimatedUSD: b.EstimatedUSD, WholeUSD: b.WholeUSD, Relative: b.Relative,
			SessionCalls: sum.Measured, SessionUSD: sum.MeasuredUSD,
		})
	}
}

// billUnchanged lets the call's result record the usage of a request that was sent unchanged
// because the call failed. The sums of estimates do not have the call, so its usage is in
// the measured sums alone. billUnchanged does nothing if the call failed before its session
// and its prices were known.
func (c *call) billUnchanged() {
	if c.lane == nil || c.ep == nil || !c.ep.countsTokens() {
		return
	}
	const never = -1 // the request says nothing about the cache of the session's views
	a, once, card := &c.lane.account, &outcomeOnce{at: never}, c.ep.card
	m, s, unit, say := c.m, c.s, c.unit(), c.usageEvent
	c.res.observe.refused = func() { once.is(a) }
	c.res.observe.billed = func(u Usage) {
		if first, _ := once.is(a); !first {
			return
		}
		if err := u.isImpossible(); err != nil {
			a.warn("usage", "the reported usage is impossible and is ignored: "+err.Error())
			return
		}
		billed := u.split(card, price.Usage{})
		cost := card.Cost(billed)
		sum := m.bill(s, unit, SessionBill{Measured: 1, MeasuredUSD: cost})
		say(trace.CallUsage{
			Measured: billed.Prompt(), Cached: billed.Cached, Written: billed.Written + billed.WrittenHour, Output: billed.Output, CacheKnown: u.CacheKnown,
			Cleared: u.ClearedTokens, Compacted: u.CompactedTokens, ToolRounds: u.ToolRounds,
			MeasuredUSD: cost, Relative: card.Relative, SessionCalls: sum.Measured, SessionUSD: sum.MeasuredUSD,
		})
	}
}

// noticed returns the function that records whether the provider read the prompt of an
// observed call from a cache. That prompt was the whole history.
func (c *call) noticed(once *outcomeOnce) func(Usage) {
	a, tokens := &c.lane.account, c.res.TokensIn
	expect := c.ep.card.Split(tokens, c.leftWhole).Cached
	return func(u Usage) {
		if first, latest := once.is(a); first && latest && !u.ToolRounds && u.contradicts(tokens) == nil {
			a.observed(observedUsage{known: u.CacheKnown, cached: u.CachedTokens, expect: expect})
		}
	}
}

// unbilled returns the function that takes the call out of the sums of its session,
// because the provider refused its request and billed nothing. It may be called at any
// time, by any goroutine. It has no effect after the usage of the call.
func (c *call) unbilled(once *outcomeOnce) func() {
	m, a, s, unit, b := c.m, &c.lane.account, c.s, c.unit(), c.charged
	saved := c.res.TokensIn - c.res.After.Total
	return func() {
		if first, latest := once.is(a); first {
			s.unsaved(saved)
			m.bill(s, unit, SessionBill{Calls: -1, EstimatedUSD: -b.EstimatedUSD, WholeUSD: -b.WholeUSD})
			a.refuse(latest)
		}
	}
}

// unsaved takes the saved tokens of a call out of the sum, because its request was
// refused.
func (s *session) unsaved(tokens int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved -= tokens
}

// usageEvent emits the event of a call's usage to the exporters and the audit
// log.
func (c *call) usageEvent(p trace.CallUsage) {
	p.SessionID, p.Agent, p.Model = c.id, c.q.agent, c.ep.name
	c.tellLater(p, c.m.now())
}

// writes describes the summaries of this call.
func (c *call) writes() *writing {
	w := &writing{backend: c.ep.cfg.Summarizer.Backend, strategy: c.ep.writer.Strategy.Name, card: c.ep.card, unit: c.unit(), whole: c.res.Before.Total}
	if d, ok := c.ep.writer.Summarizer.(strategy.Describer); ok {
		info := d.Describe()
		w.backend, w.model = info.Name, info.Model
	}
	if w.backend == backendAgent {
		w.model = c.ep.name
	}
	return w
}

// paid adds the cost of a summary to the call and to its event.
func (c *call) paid(p *trace.Summarize, told []summarize.CallInfo) {
	cost := c.writes().cost(told)
	cost.in(p, c.ep.card.Relative)
	c.summaries = c.summaries.plus(cost)
}
