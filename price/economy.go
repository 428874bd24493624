package price

import "math"

// A Stock describes a session for the decision whether to compact it. Each call
// adds to the prompt, and every later call reads it again. A compaction makes the
// prompt smaller, once and at a price.
type Stock struct {
	Tokens  int     // tokens of the prompt that is about to be sent
	Growth  float64 // tokens that a call adds; values below 1 count as 1
	Horizon float64 // expected number of calls to come, this one included
	Step    float64 // tokens; the least that a compaction removes, and the least growth between two compactions
	Raw     float64 // cost of the calls so far, had each sent the whole history
	Overrun float64 // share of Raw; the most by which a compaction may cost more than it saves if the session ends now
	Cold    bool    // the provider's cache holds nothing of the prompt
}

// A Candidate is one possible compaction with its costs. Money is in the units of
// [Card.Cost].
type Candidate struct {
	Level   int     // tokens of the prompt after it
	Prefix  int     // tokens in front of its first edit, which stay in the cache
	Summary float64 // price of writing the summary; does not depend on how much is removed
	Reading float64 // price of reading the messages that are summarized
	Recalls float64 // expected price of recalling removed messages
	Weight  float64 // weight of Recalls in PerCall, which decides among candidates; 1 counts them at their price
}

// A Verdict holds what a candidate costs and saves.
type Verdict struct {
	Fixed   float64 // F: costs that do not depend on how much is removed
	Linear  float64 // L: costs that grow with how much is removed
	PerCall float64 // c: cost of a call in the long run, if every compaction is like this one
	Due     float64 // size of the prompt in tokens at which it is due
	Saves   float64 // savings over the horizon
	Overrun float64 // costs minus savings if the session ends with this call
	Pays    bool    // it saves more than it costs
	Safe    bool    // Overrun is within the allowed share of Raw
}

// Chosen reports whether the candidate should be carried out now.
func (v Verdict) Chosen(s Stock) bool { return v.Pays && v.Safe && float64(s.Tokens) >= v.Due }

// Judge computes what a candidate costs and saves under the card.
//
// Rewriting the cache behind the first edit costs, per token, the difference
// between a written and a read token. That does not depend on the size of the
// prompt, so that compactions follow the law of economic order quantities: F is
// paid each time, and between two compactions the prompt is larger on average by
// half of its growth. The cost of a call is lowest if the prompt may grow by
// sqrt(2 growth F / read) in between, or by Step if that is larger.
//
// If the cache is cold, everything is written in any case. Then only the summary
// is a fixed cost, and a token that is not sent saves a write at once.
func (c Card) Judge(s Stock, x Candidate) Verdict {
	read, write := c.CacheRead/million, c.CacheWrite/million
	gone := float64(s.Tokens - x.Level)
	if gone <= 0 || read <= 0 {
		return Verdict{PerCall: math.Inf(1), Due: math.Inf(1)}
	}
	first := read // savings in this call for a token that is not sent
	v := Verdict{Fixed: x.Summary, Linear: x.Reading + x.Recalls}
	missed := x.Reading + x.Weight*x.Recalls
	rewriting := (write - read) * math.Max(0, float64(x.Level-x.Prefix))
	if s.Cold {
		first = write
	} else {
		v.Fixed += rewriting
	}
	growth := math.Max(s.Growth, 1)
	// The compactions that follow find a warm cache.
	span := math.Max(s.Step, math.Sqrt(2*growth*(x.Summary+rewriting)/read))
	v.PerCall = read*(float64(x.Level)+span/2) + growth*(x.Summary+rewriting)/span + growth*missed/gone
	v.Due = float64(x.Level) + span
	if s.Cold {
		v.Due = float64(x.Level) + s.Step
	}
	v.Saves = gone * (first + (s.Horizon-1)*read)
	v.Pays = v.Saves > v.Fixed+v.Linear
	v.Overrun = v.Fixed + x.Reading - first*gone
	v.Safe = v.Overrun <= s.Overrun*s.Raw
	return v
}
