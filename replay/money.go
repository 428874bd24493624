package replay

import "github.com/agentcompact/compact/price"

// Money is a cost split by its parts, in US dollars.
type Money struct {
	Fresh     float64 `json:"fresh"`   // prompt tokens neither read from nor written into a cache
	Cached    float64 `json:"cached"`  // read from the cache
	Written   float64 `json:"written"` // written into it
	Output    float64 `json:"output"`  // answers
	Summaries float64 `json:"summaries"`
}

func moneyOf(c price.Card, calls price.Usage, summary float64) Money {
	return Money{
		Fresh:     c.Cost(price.Usage{Fresh: calls.Fresh}),
		Cached:    c.Cost(price.Usage{Cached: calls.Cached}),
		Written:   c.Cost(price.Usage{Written: calls.Written, WrittenHour: calls.WrittenHour}),
		Output:    c.Cost(price.Usage{Output: calls.Output}),
		Summaries: summary,
	}
}

// Total returns the sum.
func (m Money) Total() float64 { return m.Fresh + m.Cached + m.Written + m.Output + m.Summaries }
