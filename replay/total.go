package replay

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentcompact/compact/price"
)

// A Total is all sessions under one policy and window. Intervals hold 95 of
// 100 samples of as many sessions, drawn from these with a fixed seed; they say
// how much the figure depends on which sessions these are.
type Total struct {
	Policy    string `json:"policy"`
	Reference bool   `json:"reference"`
	Window    int    `json:"window"`

	Cost        float64       `json:"cost_usd"`
	SummaryCost float64       `json:"summary_cost_usd"`
	OfRaw       Interval      `json:"cost_of_raw"`   // share of what sending everything costs
	Held        Interval      `json:"needed_at_use"` // share of the needed identifiers that the views hold
	Usage       price.Usage   `json:"usage"`
	Calls       int           `json:"calls"`
	Over        int           `json:"calls_over_window"`
	Refused     int           `json:"calls_refused"`
	Compactions int           `json:"compactions"`
	Changed     float64       `json:"changed_prefixes_per_100_calls"`
	Largest     int           `json:"largest_prompt"`
	Worst       float64       `json:"worst_session_of_raw"` // the session of 15 calls or more that costs most, of its raw
	Elapsed     time.Duration `json:"-"`                    // own work a call; not deterministic
}

// An Interval is a figure with the range that its sample allows.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

const (
	samples        = 1000
	worstOfAtLeast = 15 // calls
)

func isEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func totals(rows []Row, o Options) []Total {
	var out []Total
	for _, window := range o.Windows {
		for _, p := range o.Policies {
			if own := pick(rows, p.Name(), window); len(own) > 0 {
				out = append(out, total(own))
			}
		}
	}
	return out
}

func pick(rows []Row, policy string, window int) []*Row {
	var out []*Row
	for i := range rows {
		if rows[i].Policy == policy && rows[i].Window == window {
			out = append(out, &rows[i])
		}
	}
	return out
}

func total(own []*Row) Total {
	t := Total{Policy: own[0].Policy, Reference: own[0].Reference, Window: own[0].Window}
	changed := 0
	for _, r := range own {
		t.Cost += r.Cost
		t.SummaryCost += r.SummaryCost
		t.Usage = t.Usage.Plus(r.Usage)
		t.Calls += r.Calls
		t.Over += r.Over
		t.Refused += r.Refused
		t.Compactions += r.Compactions
		t.Largest = max(t.Largest, r.Largest)
		t.Elapsed += r.Elapsed
		changed += r.Changed
		if r.Calls >= worstOfAtLeast && r.RawCost > 0 {
			t.Worst = max(t.Worst, r.Cost/r.RawCost)
		}
	}
	t.Elapsed /= time.Duration(max(t.Calls, 1))
	t.Changed = 100 * float64(changed) / float64(max(t.Calls, 1))
	t.Held = resampled(len(own), func(i int) (float64, float64) { return float64(own[i].Held), float64(own[i].Needed) })
	t.OfRaw = resampled(len(own), func(i int) (float64, float64) { return own[i].Cost, own[i].RawCost })
	return t
}

// resampled returns the ratio of two sums over sessions, and the range in which
// it lies in 95 of 100 samples of as many sessions (bootstrap, percentiles;
// Efron 1979).
func resampled(n int, of func(i int) (part, whole float64)) Interval {
	ratio := func(draw func(int) int) float64 {
		part, whole := 0.0, 0.0
		for k := range n {
			p, w := of(draw(k))
			part, whole = part+p, whole+w
		}
		if whole == 0 {
			return 0
		}
		return part / whole
	}
	rng := rand.New(rand.NewPCG(uint64(n), samples)) //nolint:gosec // a fixed seed is the point
	drawn := make([]float64, samples)
	for i := range drawn {
		drawn[i] = ratio(func(int) int { return rng.IntN(n) })
	}
	slices.Sort(drawn)
	return Interval{ratio(func(k int) int { return k }), drawn[samples*25/1000], drawn[samples*975/1000-1]}
}
