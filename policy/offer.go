package policy

import "github.com/agentcompact/compact/message"

// An Offer is one way of compacting, before anybody has made it: what it would
// leave, by arithmetic alone.
type Offer struct {
	Keep   Keep    `json:"keep"`         // a cut leaves these; a mask leaves the results of these
	Cut    bool    `json:"cut"`          // older turns become a summary; false: their results become placeholders
	Mask   int     `json:"mask_turns"`   // with a cut: results of what is kept that are older than so many turns become placeholders; 0 = none do
	Level  int     `json:"level"`        // tokens of the view that it is expected to leave
	Prefix int     `json:"prefix"`       // tokens in front of its first edit
	Gone   int     `json:"tokens_gone"`  // that it takes out
	Needs  float64 `json:"needed_again"` // how many later calls are expected to need a part of that
}

// placeholderTokens is about what a placeholder that says what it stands for
// costs with its message.
const placeholderTokens = 40

// Offers are the ways of compacting a view. Making it is one pass over the view;
// each offer costs a few additions.
type Offers struct {
	v     *View
	mask  Mask
	cut   []sum // what rounds before this one cost and are worth, as far as a cut may take them
	masks []sum // the same of their results, as far as mask may
	front []int // tokens of the request in front of a round
	pairs []int // the rounds of the last tool pairs, which stay; newest first
}

// sum adds up messages.
type sum struct {
	tokens int
	needs  float64
}

func (s sum) plus(o sum) sum  { return sum{s.tokens + o.tokens, s.needs + o.needs} }
func (s sum) minus(o sum) sum { return sum{s.tokens - o.tokens, s.needs - o.needs} }

// Offers reads what may go of the view; m says which results a mask leaves.
func (v *View) Offers(m Mask) *Offers {
	n := len(v.Rounds)
	o := &Offers{v: v, mask: m, cut: make([]sum, n+1), masks: make([]sum, n+1), front: make([]int, n+1)}
	o.front[0] = v.Fixed
	seen, results := 0, countResults(v.Messages)
	for r, span := range v.Rounds {
		var cut, masked sum
		tokens := 0
		stays := v.pinnedRound(r) || v.holdsAnchor(r) || span.Start >= v.Open
		for i := span.Start; i < span.End; i++ {
			tokens += v.Tokens[i]
			needs := needsOf(&v.Messages[i], len(v.Turns)-v.turn[r])
			if !stays {
				cut = cut.plus(sum{v.Tokens[i], needs})
			}
			if !v.Messages[i].Has(message.KindToolResult) {
				continue
			}
			seen++
			saves := v.Tokens[i] - placeholderTokens
			if seen > m.KeepFirst && seen <= results-m.KeepLast && !v.Pinned[i] && span.Start < v.Open && saves > max(m.MinTokens, placeholderTokens) {
				masked = masked.plus(sum{saves, needs})
			}
		}
		o.cut[r+1], o.masks[r+1], o.front[r+1] = o.cut[r].plus(cut), o.masks[r].plus(masked), o.front[r]+tokens
	}
	left := v.Keep.Pairs
	for r := n - 1; r >= 0 && left > 0; r-- {
		if v.Rounds[r].Pairs > 0 {
			o.pairs = append(o.pairs, r)
			left -= v.Rounds[r].Pairs
		}
	}
	return o
}

// Cut returns what is left when all but the last turns become a summary of so
// many tokens, and results that are older than mask turns placeholders (0: none
// do). ok is false where nothing may go, or less than the summary costs.
func (o *Offers) Cut(turns, mask, summary int) (Offer, bool) {
	end := o.from(turns)
	gone := o.of(o.cut, 0, end)
	x := Offer{Keep: Keep{Turns: turns, Pairs: o.v.Keep.Pairs}, Cut: true, Mask: mask, Prefix: o.inFront(o.cut)}
	if gone.tokens <= summary {
		return x, false
	}
	if mask > 0 {
		gone = gone.plus(o.of(o.masks, end, max(o.from(mask), end)))
	}
	return o.filled(x, gone, summary), true
}

// Mask returns what is left when all results that may be masked are, but those of
// the last turns.
func (o *Offers) Mask(turns int) (Offer, bool) {
	gone := o.of(o.masks, 0, o.from(turns))
	x := Offer{Keep: Keep{Turns: turns, Pairs: o.v.Keep.Pairs}, Prefix: o.inFront(o.masks)}
	return o.filled(x, gone, 0), gone.tokens > 0
}

func (o *Offers) filled(x Offer, gone sum, summary int) Offer {
	x.Gone, x.Needs = gone.tokens, gone.needs
	x.Level = o.front[len(o.front)-1] - gone.tokens + summary
	return x
}

// from returns the round at which the last turns begin.
func (o *Offers) from(turns int) int {
	if len(o.v.Turns) == 0 || turns >= len(o.v.Turns) {
		return 0
	}
	return o.v.Turns[len(o.v.Turns)-turns].First
}

// of returns the sum over rounds [from, to), without the last tool pairs.
func (o *Offers) of(sums []sum, from, to int) sum {
	out := sums[to].minus(sums[from])
	for _, r := range o.pairs {
		if from <= r && r < to {
			out = out.minus(sums[r+1].minus(sums[r]))
		}
	}
	return out
}

// inFront returns the tokens in front of the first round of which something may
// go.
func (o *Offers) inFront(sums []sum) int {
	for r := range o.v.Rounds {
		if sums[r+1].tokens > 0 {
			return o.front[r]
		}
	}
	return o.front[len(o.front)-1]
}

// Growth returns the mean number of tokens that a call added, over the last so
// many answers of a history and what came before each; the first prompt, where
// there is no answer before it, is left out. At least 1.
func Growth(history []message.Message, costs []int, calls int) float64 {
	sum, counted, answers := 0, 0, 0
	for i := len(history) - 1; i >= 0 && answers < calls; i-- {
		sum += costs[i]
		if history[i].Role == message.RoleAssistant {
			answers, counted = answers+1, sum
		}
	}
	return max(1, float64(counted)/float64(max(answers, 1)))
}
