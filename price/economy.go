package price

import "math"

// A Stock describes a session at the moment of deciding whether to compact it.
// Each call adds to the prompt, and every later call reads it again. A compaction
// makes the prompt smaller, once and at a cost. Money is in the units of [Card.Cost].
type Stock struct {
	Tokens  int     // tokens of the prompt that is about to be sent
	Growth  float64 // tokens that a call adds; values below 1 count as 1
	Horizon float64 // expected number of calls to come, this one included
	Step    float64 // tokens; the minimum that a compaction removes, and the minimum growth between two compactions
	Raw     float64 // cost of the calls so far if each had sent the whole history
	Overrun float64 // share of Raw; the most by which a compaction may cost more than it saves if the session ends now
	Cold    bool    // the provider's cache holds no part of the prompt
}

// A Candidate is one possible compaction with its costs. Money is in the units of
// [Card.Cost].
type Candidate struct {
	Level   int     // tokens of the prompt after the compaction
	Prefix  int     // tokens before the first edit, which stay in the cache
	Summary float64 // price of writing the summary; does not depend on how much is removed
	Reading float64 // price of reading the messages that are summarized
	Recalls float64 // expected price of recalling removed messages
	Weight  float64 // factor for Recalls in PerCall, which ranks the candidates; 1 = Recalls at their full price
}

// A Verdict holds the costs and savings of a candidate, in the units of [Card.Cost].
type Verdict struct {
	Fixed   float64 // F: costs that do not depend on how much is removed
	Linear  float64 // L: costs that grow with how much is removed
	PerCall float64 // c: average cost of a call if every compaction is like this one
	Due     float64 // size of the prompt, in tokens, at which the compaction is due
	Saves   float64 // savings over the horizon
	Overrun float64 // costs minus savings if the session ends with this call
	Pays    bool    // the compaction saves more than it costs
	Safe    bool    // Overrun is within the allowed share of Raw
}

// Chosen reports whether the candidate should be carried out now.
func (v Verdict) Chosen(s Stock) bool { return v.Pays && v.Safe && float64(s.Tokens) >= v.Due }

// Judge computes the costs and savings of a candidate under the card.
//
// The tokens after the first edit must be written into the cache again; each
// costs the difference between a written and a read token. That difference does
// not depend on the size of the prompt, so compactions follow the formula for
// economic order quantities: F is paid for each compaction, and the prompt is
// larger on average by half of its growth between two compactions. The cost per
// call is lowest if the prompt may grow by sqrt(2 growth F / read) between two
// compactions, or by Step if that is larger.
//
// If the cache is cold, the whole prompt is written in any case. Then only the
// summary is a fixed cost, and a token that is not sent saves the price of
// writing it at once.
func (c Card) Judge(s Stock, x Candidate) Verdict {
	read, write := c.CacheRead/million, c.CacheWrite/million
	gone := float64(s.Tokens - x.Level)
	if gone <= 0 || read <= 0 {
		return Verdict{PerCall: math.Inf(1), Due: math.Inf(1)}
	}
	first := read // savings in this call per token that is not sent
	v := Verdict{Fixed: x.Summary, Linear: x.Reading + x.Recalls}
	missed := x.Reading + x.Weight*x.Recalls
	rewriting := (write - read) * math.Max(0, float64(x.Level-x.Prefix))
	if s.Cold {
		first = write
	} else {
		v.Fixed += rewriting
	}
	growth := math.Max(s.Growth, 1)
	// Later compactions find a warm cache.
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
