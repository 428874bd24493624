package replay

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentcompact/compact/price"
)

// A Total sums up all sessions under one policy and window. Intervals cover 95
// of 100 samples; each sample draws the same number of sessions from all sessions, with repetition
// and with a fixed seed. They show how much a figure depends on the choice of sessions.
// Costs are in US dollars; the window and the largest prompt are in tokens; shares are
// between 0 and 1.
type Total struct {
	Policy    string `json:"policy"`
	Reference bool   `json:"reference"`
	Window    int    `json:"window"`

	Cost        float64     `json:"cost_usd"`
	SummaryCost float64     `json:"summary_cost_usd"`
	Money       Money       `json:"cost_by_kind_usd"`
	OfRaw       Interval    `json:"cost_of_raw"`   // share of the cost with the whole history
	Held        Interval    `json:"needed_at_use"` // share of the needed identifiers that the views hold
	Usage       price.Usage `json:"usage"`
	Calls       int         `json:"calls"`
	Over        int         `json:"calls_over_window"`
	Refused     int         `json:"calls_refused"`
	Compactions int         `json:"compactions"`
	Changed     float64     `json:"changed_prefixes_per_100_calls"`
	Largest     int         `json:"largest_prompt"`
	Sent        int         `json:"tokens_sent"`
	Worst       float64     `json:"worst_session_of_raw"` // highest share of the raw cost, among sessions of 15 calls or more
	// the same for sessions in which every compaction was made because it pays; 0: there was no
	// such session, or no compaction was made for this reason
	WorstByWill float64  `json:"worst_session_by_will"`
	Kept        Kept     `json:"kept"`
	Tidied      []Tidied `json:"tidied,omitempty"` // results of the stage tidy, by reducer

	Standing []Standing `json:"standing,omitempty"`           // contents of the prompts, if Options.Where is set
	Lost     []Loss     `json:"lost,omitempty"`               // decisions on the missing identifiers, if Options.Where is set
	Recall   *Interval  `json:"one_recall_brings_of_missing"` // nil: nothing is missing, or there is no recall
	// share of the removed typed sentences that the views contain right after compactions; nil: no
	// sentence was removed
	User   *Interval `json:"user_told"`
	Failed *Interval `json:"failed_told"`     // the same share, of the commands whose last run failed
	False  *Interval `json:"false_of_stated"` // share of the stated outcomes that no run of the command had

	Elapsed []time.Duration `json:"-"` // the policy's own time per call, ascending; not deterministic
}

// An Interval is a figure with its confidence interval.
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
	changed, chosen := 0, 0
	for _, r := range own {
		t.Cost += r.Cost
		t.SummaryCost += r.SummaryCost
		t.Usage = t.Usage.Plus(r.Usage)
		t.Calls += r.Calls
		t.Over += r.Over
		t.Refused += r.Refused
		t.Compactions += r.Compactions
		t.Largest = max(t.Largest, r.Largest)
		t.Sent += r.Sent
		t.Kept = t.Kept.Plus(r.Kept)
		t.Elapsed = append(t.Elapsed, r.Elapsed...)
		changed += r.Changed
		chosen += r.Paying
		if r.Calls >= worstOfAtLeast && r.RawCost > 0 {
			t.Worst = max(t.Worst, r.OfRaw())
			if r.Paying == r.Compactions {
				t.WorstByWill = max(t.WorstByWill, r.OfRaw())
			}
		}
	}
	if chosen == 0 {
		t.WorstByWill = 0
	}
	slices.Sort(t.Elapsed)
	t.Money, t.Tidied = sumOf(own), tidiedOf(own)
	t.Standing, t.Lost = addWhere(own)
	t.Changed = 100 * float64(changed) / float64(max(t.Calls, 1))
	t.Held = Interval{1, 1, 1} // if nothing is needed, nothing is missing
	if held := shareOf(own, func(k *Kept) (int, int) { return k.Held, k.Needed }); held != nil {
		t.Held = *held
	}
	t.OfRaw = resampled(len(own), func(i int) (float64, float64) { return own[i].Cost, own[i].RawCost })
	if own[0].Recalls {
		t.Recall = shareOf(own, func(k *Kept) (int, int) { return k.Recalled, k.Missing() })
	}
	t.User = shareOf(own, func(k *Kept) (int, int) { return k.Told.User, k.Told.UserOf })
	t.Failed = shareOf(own, func(k *Kept) (int, int) { return k.Told.Failed, k.Told.FailedOf })
	t.False = shareOf(own, func(k *Kept) (int, int) { return k.Told.False, k.Told.Stated })
	return t
}

func sumOf(own []*Row) (m Money) {
	for _, r := range own {
		x := r.Money
		m = Money{m.Fresh + x.Fresh, m.Cached + x.Cached, m.Written + x.Written, m.Output + x.Output, m.Summaries + x.Summaries}
	}
	return m
}

// shareOf returns a share over sessions, nil if the whole is 0.
func shareOf(own []*Row, of func(*Kept) (part, whole int)) *Interval {
	all := 0
	for _, r := range own {
		_, whole := of(&r.Kept)
		all += whole
	}
	if all == 0 {
		return nil
	}
	i := resampled(len(own), func(i int) (float64, float64) { p, w := of(&own[i].Kept); return float64(p), float64(w) })
	return &i
}

// resampled returns the ratio of two sums over sessions, and the range that
// covers 95 of 100 samples of the same number of sessions (bootstrap,
// percentiles; Efron 1979).
func resampled(n int, of func(i int) (part, whole float64)) Interval {
	ratio := func(draw func(int) int) float64 {
		part, whole := 0.0, 0.0
		for k := range n {
			p, w := of(draw(k))
			part, whole = part+p, whole+w
		}
		return part / whole
	}
	rng := rand.New(rand.NewPCG(uint64(n), samples)) //nolint:gosec // a fixed seed is the point
	drawn := make([]float64, 0, samples)
	for range samples {
		if r := ratio(func(int) int { return rng.IntN(n) }); !math.IsNaN(r) { // NaN: the whole of the sample is 0
			drawn = append(drawn, r)
		}
	}
	if len(drawn) == 0 {
		return Interval{}
	}
	slices.Sort(drawn)
	return Interval{ratio(func(k int) int { return k }), drawn[len(drawn)*25/1000], drawn[max(len(drawn)*975/1000, 1)-1]}
}
