package reduce

import (
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// placeholderTokens is the approximate cost of a placeholder that describes the replaced
// text, together with the message around it.
const placeholderTokens = 40

// Offers computes possible compactions of a view. [OffersOf] makes one pass over the
// view; after that, each offer takes only a few additions.
type Offers struct {
	v     *policy.View
	mask  policy.Mask
	cut   []sum // by round: sums over the earlier rounds that a cut may remove
	masks []sum // by round: sums over the earlier results that a mask may replace
	front []int // by round: tokens of the request in front of the round
	pairs []int // the rounds of the last tool pairs, newest first; they stay
}

// A sum adds up the tokens and the expected needs of messages.
type sum struct {
	tokens int
	needs  float64
}

func (s sum) plus(o sum) sum  { return sum{s.tokens + o.tokens, s.needs + o.needs} }
func (s sum) minus(o sum) sum { return sum{s.tokens - o.tokens, s.needs - o.needs} }

// OffersOf returns the possible compactions of the view. m determines which
// results a mask keeps.
func OffersOf(v *policy.View, m policy.Mask) *Offers {
	n := len(v.Rounds)
	o := &Offers{v: v, mask: m, cut: make([]sum, n+1), masks: make([]sum, n+1), front: make([]int, n+1)}
	o.front[0] = v.Fixed
	seen, results := 0, resultsIn(v.Messages)
	for r, span := range v.Rounds {
		var cut, masked sum
		tokens := 0
		stays := roundIsPinned(v, r) || v.Anchor >= 0 && v.RoundOf(v.Anchor) == r || span.Start >= v.Open
		for i := span.Start; i < span.End; i++ {
			tokens += v.Tokens[i]
			needs := needsOf(&v.Messages[i], len(v.Turns)+1-v.TurnOf(i))
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

// Cut returns the offer in which all turns but the last ones become a summary that costs
// summary tokens. Results in the kept turns become placeholders if they are older than
// mask turns; if mask is 0, they stay. It returns false if the cut removes no more
// tokens than the summary costs.
func (o *Offers) Cut(turns, mask, summary int) (policy.Offer, bool) {
	end := o.from(turns)
	gone := o.between(o.cut, 0, end)
	x := policy.Offer{Keep: policy.Keep{Turns: turns, Pairs: o.v.Keep.Pairs}, Cut: true, Mask: mask, Prefix: o.inFront(o.cut)}
	if gone.tokens <= summary {
		return x, false
	}
	if mask > 0 {
		gone = gone.plus(o.between(o.masks, end, max(o.from(mask), end)))
	}
	return o.filled(x, gone, summary), true
}

// Mask returns the offer in which all results that may be masked become placeholders,
// except the results of the last turns. It returns false if there are none.
func (o *Offers) Mask(turns int) (policy.Offer, bool) {
	gone := o.between(o.masks, 0, o.from(turns))
	x := policy.Offer{Keep: policy.Keep{Turns: turns, Pairs: o.v.Keep.Pairs}, Prefix: o.inFront(o.masks)}
	return o.filled(x, gone, 0), gone.tokens > 0
}

func (o *Offers) filled(x policy.Offer, gone sum, summary int) policy.Offer {
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

// between returns the sum over the rounds [from, to), without the last tool pairs.
func (o *Offers) between(sums []sum, from, to int) sum {
	out := sums[to].minus(sums[from])
	for _, r := range o.pairs {
		if from <= r && r < to {
			out = out.minus(sums[r+1].minus(sums[r]))
		}
	}
	return out
}

// inFront returns the tokens in front of the first round that may change.
func (o *Offers) inFront(sums []sum) int {
	for r := range o.v.Rounds {
		if sums[r+1].tokens > 0 {
			return o.front[r]
		}
	}
	return o.front[len(o.front)-1]
}

// resultsIn returns the number of tool results in the messages.
func resultsIn(msgs []message.Message) (n int) {
	for i := range msgs {
		for p := range msgs[i].Parts {
			if msgs[i].Parts[p].Kind == message.KindToolResult {
				n++
			}
		}
	}
	return n
}

// roundIsPinned reports whether round r holds a pinned message.
func roundIsPinned(v *policy.View, r int) bool {
	span := v.Rounds[r]
	return slices.Contains(v.Pinned[span.Start:span.End], true)
}
