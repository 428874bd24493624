package replay

import (
	"slices"
	"time"
)

// A summaryCost is the cost of one summary, used or not.
type summaryCost struct {
	at        time.Time
	agent     string
	prices    string // the price card; "" = no model was asked, or the program was older and its cost is in the bill of the call
	usd       float64
	estimated float64 // of usd
	relative  bool    // in units of another model's price
}

// addSummaries adds up the costs of summaries: those of their own events, and of
// older programs those in the bills of calls.
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
