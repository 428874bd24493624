package replay

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/agentcompact/compact/price"
)

// A Row is one session under one policy and window. Costs are in US dollars, the window is
// in tokens.
type Row struct {
	Policy    string `json:"policy"`
	Reference bool   `json:"reference"` // the policy is not a policy of this module
	Window    int    `json:"window"`
	Session   string `json:"session"`

	Calls       int         `json:"calls"`
	Cost        float64     `json:"cost_usd"`         // cost of the calls and the summaries
	RawCost     float64     `json:"raw_cost_usd"`     // cost of the same calls with the whole history
	SummaryCost float64     `json:"summary_cost_usd"` // cost of the summaries alone
	Money       Money       `json:"cost_by_kind_usd"`
	Usage       price.Usage `json:"usage"`                // usage of the calls
	Largest     int         `json:"largest_prompt"`       // tokens
	Over        int         `json:"calls_over_window"`    // calls whose prompt is larger than the window
	Refused     int         `json:"calls_refused"`        // calls for which the policy found no view
	Compactions int         `json:"compactions"`          // calls that removed something
	Paying      int         `json:"compactions_that_pay"` // compactions that policy.when economic chose
	Changed     int         `json:"changed_prefixes"`     // calls that changed the prompt of the previous call
	Sent        int         `json:"tokens_sent"`          // tokens in the prompts of all calls
	Kept
	Tidied   []Tidied   `json:"tidied,omitempty"`   // by the name of the reducer
	Standing []Standing `json:"standing,omitempty"` // contents of the prompts, if Options.Where is set
	Lost     []Loss     `json:"lost,omitempty"`     // decisions on the missing identifiers, if Options.Where is set
	Recalls  bool       `json:"recalls"`            // removed text can be recalled

	Points  []Point         `json:"-"` // the calls, in order
	Elapsed []time.Duration `json:"-"` // the policy's own time per call; not deterministic
}

// A Point is one call.
type Point struct {
	Message   int     // the index of its answer
	Tokens    int     // tokens of its prompt
	Cost      float64 // US dollars
	Compacted bool
	Refused   bool
	Reason    string
	Change    *Change // the compaction, for a policy of this module; nil if there was no compaction
}

// OfRaw returns the cost as a share of the cost with the whole history.
func (r *Row) OfRaw() float64 {
	if r.RawCost == 0 {
		return 0
	}
	return r.Cost / r.RawCost
}

func (r *Row) call(at int, v *View, u price.Usage, changed bool, kept Kept, card price.Card) {
	cost, summary := card.Cost(u), card.Cost(v.Summary)
	r.Calls++
	r.Cost += cost + summary
	r.SummaryCost += summary
	r.Usage = r.Usage.Plus(u)
	r.Largest = max(r.Largest, u.Prompt())
	r.Over += one(u.Prompt() > r.Window)
	r.Refused += one(v.Refused)
	r.Compactions += one(v.Compacted)
	r.Paying += one(v.Compacted && v.Paying)
	r.Changed += one(changed)
	r.Kept = r.Kept.Plus(kept)
	r.Sent += u.Prompt()
	r.Elapsed = append(r.Elapsed, v.Elapsed)
	p := Point{Message: at, Tokens: u.Prompt(), Cost: cost + summary, Compacted: v.Compacted, Refused: v.Refused, Change: v.Change}
	if v.Compacted || v.Refused {
		p.Reason = v.Reason
	}
	r.Points = append(r.Points, p)
	r.tidy(v.Tidied)
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A Report is the result of a replay.
type Report struct {
	Model    string     `json:"model"` // model whose tokens were counted
	Card     price.Card `json:"prices"`
	Sessions int        `json:"sessions"`             // number of replayed sessions
	Short    int        `json:"sessions_passed_over"` // skipped because they are shorter than Options.Least
	Totals   []Total    `json:"totals"`               // by window and policy, in the order of the options
	Rows     []Row      `json:"rows"`                 // by session, window and policy
	Errors   []error    `json:"-"`                    // sessions that could not be replayed, and why

	options Options
	found   []found
}

type found struct {
	at   int
	rows []Row
	err  error
}

func newReport(o Options) *Report {
	return &Report{Model: o.Model, Card: o.Card, options: o}
}

func (r *Report) add(at int, rows []Row, err error) { r.found = append(r.found, found{at, rows, err}) }
func (r *Report) bad(at int, err error)             { r.found = append(r.found, found{at, nil, err}) }

// finish sorts the results by session. It leaves out sessions that ended with
// the context, because these are not errors.
func (r *Report) finish() {
	slices.SortFunc(r.found, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	for _, f := range r.found {
		switch {
		case f.err == nil:
			r.Sessions++
			r.Rows = append(r.Rows, f.rows...)
		case !isEnded(f.err):
			r.Errors = append(r.Errors, f.err)
		}
	}
	r.found = nil
	r.Totals = totals(r.Rows, r.options)
}

// Err returns the joined errors of sessions that could not be replayed.
func (r *Report) Err() error { return errors.Join(r.Errors...) }
