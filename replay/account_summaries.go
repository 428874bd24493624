package replay

import (
	"slices"
	"time"
)

// A summaryCost is the cost of one summary, used or not.
type summaryCost struct {
	at        time.Time
	agent     string
	prices    string // the price card; "" = no model was asked, or an older program put the cost into the bill of the call
	usd       float64
	estimated float64 // part of usd
	relative  bool    // the unit is another model's price
}

// addSummaries adds up the costs of summaries, from their own events; for older
// programs, from the bills of calls.
func (a *Account) addSummaries() {
	a.summaries = slices.DeleteFunc(a.summaries, func(s summaryCost) bool { return s.prices == "" || s.relative })
	for i := range a.Calls {
		if c := &a.Calls[i]; c.Summary > 0 && !c.apart {
			a.summaries = append(a.summaries, summaryCost{at: c.At, agent: c.Agent, usd: c.Summary})
		}
	}
	for _, s := range a.summaries {
		a.Money.Summaries, a.Money.Estimated = a.Money.Summaries+s.usd, a.Money.Estimated+s.estimated
	}
}
