package compact

import (
	"fmt"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
)

// A Bill is the cost of one call, in US dollars. Figures have three kinds of
// names: estimated figures are counted before the call, measured figures come
// from the usage that the provider reports ([CompactManager.Observe]), and
// projected figures are the cost of the same calls with the whole history.
type Bill struct {
	Prices   string `json:"prices"`             // the name and the source of the price card
	Relative bool   `json:"relative,omitempty"` // the price of the model is unknown: amounts are in units of its input price, and only ratios are meaningful

	Estimated    price.Usage `json:"estimated_prompt"` // tokens of the prompt, by price
	EstimatedUSD float64     `json:"estimated_prompt_usd"`
	Whole        price.Usage `json:"projected_whole_prompt"` // the same for the whole history, uncompacted
	WholeUSD     float64     `json:"projected_whole_prompt_usd"`
	SummaryUSD   float64     `json:"summary_usd,omitempty"` // price of a model's summaries, as far as it became known in this call

	SummaryEstimatedUSD float64 `json:"summary_estimated_usd,omitempty"` // of SummaryUSD: answers without a usage, and requests that were cut off and may have been billed
	SummaryPrices       string  `json:"summary_prices,omitempty"`        // the name and the source of the price card of the summaries

	Session SessionBill `json:"session"` // sums over the calls of the session in this process, this one included
}

// A SessionBill adds up the calls of a session.
type SessionBill struct {
	Calls        int     `json:"calls"`
	EstimatedUSD float64 `json:"estimated_prompts_usd"` // prompts
	WholeUSD     float64 `json:"projected_whole_prompts_usd"`
	SummaryUSD   float64 `json:"summaries_usd"`  // summaries, including unused ones
	Measured     int     `json:"measured_calls"` // calls whose usage was observed
	MeasuredUSD  float64 `json:"measured_usd"`   // their measured cost, answers included

	SummaryEstimatedUSD float64 `json:"summaries_estimated_usd,omitempty"` // of SummaryUSD
}

// Plus returns the sum of two bills.
func (b SessionBill) Plus(o SessionBill) SessionBill {
	return SessionBill{
		Calls: b.Calls + o.Calls, EstimatedUSD: b.EstimatedUSD + o.EstimatedUSD, WholeUSD: b.WholeUSD + o.WholeUSD,
		SummaryUSD: b.SummaryUSD + o.SummaryUSD, Measured: b.Measured + o.Measured, MeasuredUSD: b.MeasuredUSD + o.MeasuredUSD,
		SummaryEstimatedUSD: b.SummaryEstimatedUSD + o.SummaryEstimatedUSD,
	}
}

// bill records the cost of the call, which must hold its lane.
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
	b.Session = c.s.billed(b.one())
	c.lane.account.called(c)
	if !c.q.observe {
		c.res.observe.billed = c.measured(*b)
	}
}

// countsTokens reports whether counts are tokens, which have a price. UTF-16
// units have none.
func (ep *epoch) countsTokens() bool { return ep.cfg.Counting != "utf16" }

// price estimates the cost of the call, and its cost with the whole history,
// unless that is done already.
func (c *call) price() {
	if c.res.Bill != nil || !c.ep.countsTokens() {
		return
	}
	card := c.ep.card
	same, whole := c.lane.account.cached(c)
	b := &Bill{
		Prices: card.String(), Relative: card.Relative,
		Estimated: card.Split(c.res.After.Total, same), Whole: card.Split(c.res.TokensIn, whole),
		SummaryUSD: c.summaries.usd, SummaryEstimatedUSD: c.summaries.estimated, SummaryPrices: c.summaries.prices,
	}
	b.EstimatedUSD, b.WholeUSD = card.Cost(b.Estimated), card.Cost(b.Whole)
	b.Session = c.s.billed(SessionBill{}).Plus(b.one())
	c.res.Bill = b
}

// one returns the bill of the call as a part of the session's.
func (b *Bill) one() SessionBill {
	return SessionBill{Calls: 1, EstimatedUSD: b.EstimatedUSD, WholeUSD: b.WholeUSD, SummaryUSD: b.SummaryUSD, SummaryEstimatedUSD: b.SummaryEstimatedUSD}
}

// billed adds to the bill of the session, and returns the sum.
func (s *session) billed(more SessionBill) SessionBill {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bill = s.bill.Plus(more)
	return s.bill
}

// sayPrices warns about wrong prices, once for each manager and model. A dry run
// always warns, and does not use up the warning.
func (c *call) sayPrices() {
	what := c.wrongPrices()
	if what != "" && (c.q.dry || c.m.sayOnce("prices "+c.ep.name)) {
		c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(what).String())
	}
}

func (c *call) wrongPrices() string {
	card, economic := &c.ep.card, c.ep.cfg.Policy.When == policy.Economic
	switch {
	case c.ep.priceErr != nil:
		return c.ep.priceErr.Error() + "; the list prices are used (" + card.String() + ")"
	case economic && card.CacheRead <= 0:
		return "the price of cached prompt tokens is unknown or zero: policy.when economic can't compare costs, and only the window's trigger works"
	case economic && card.Relative:
		return fmt.Sprintf("no price of model %q is known: policy.when economic uses the price ratios of its provider; set prices.model, or prices.input", c.ep.name)
	}
	return ""
}
