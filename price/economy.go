package price

import "math"

// A Stock is what a decision to compact knows of a session: a call adds to the
// prompt, every later call reads it again, and a compaction makes it smaller
// once, for a price.
type Stock struct {
	Tokens  int     // of the prompt that is about to be sent
	Growth  float64 // tokens that a call adds, at least 1
	Horizon float64 // calls that are still to come, this one included
	Step    float64 // tokens; no compaction takes out less, and none comes sooner than this after another
	Raw     float64 // what the calls so far would have cost with the whole history
	Overrun float64 // share of Raw that a compaction may cost more than it saves, if the session ends now
	Cold    bool    // the provider holds nothing of the prompt any more
}

// A Candidate is one way of compacting, and what it costs. Money is in the
// units of [Card.Cost].
type Candidate struct {
	Level   int     // tokens of the prompt that it leaves
	Prefix  int     // tokens in front of its first edit that the cache goes on holding
	Summary float64 // price of writing the summary, however much is taken out
	Reading float64 // price of reading the messages that the summary stands for
	Recalls float64 // expected price of the recalls that it leads to
	Weight  float64 // weight of Recalls in the choice among candidates; 1 counts them at their price
}

// A Verdict is what the arithmetic says of a candidate.
type Verdict struct {
	Fixed   float64 // F: what it costs whatever the size of what goes
	Linear  float64 // L: what grows with what goes
	PerCall float64 // c: what a call costs in the long run, if this is what is always done
	Due     float64 // tokens of the prompt from which on it is due
	Saves   float64 // over the horizon
	Overrun float64 // what it costs beyond what it saves, if the session ends with this call
	Pays    bool    // it saves more than it costs
	Safe    bool    // Overrun is within the share that is allowed
}

// Chosen reports whether the candidate is to be carried out now.
func (v Verdict) Chosen(s Stock) bool { return v.Pays && v.Safe && float64(s.Tokens) >= v.Due }

// Judge says what a candidate costs and saves under the card.
//
// Writing anew what stands behind the first edit costs the difference between a
// written and a read token; that does not depend on the size of the prompt. So
// compactions follow the law of economic order quantities: F is paid each time,
// and between two of them the prompt is larger by half of what it grows. The
// cost of a call is least where it has grown by sqrt(2 growth F / read). Where
// the least step is larger than that, it is what a call pays for.
//
// In a cold cache everything is written in any case, so that only the summary is
// fixed cost, and what is not sent saves a write at once.
func (c Card) Judge(s Stock, x Candidate) Verdict {
	read, write := c.CacheRead/million, c.CacheWrite/million
	gone := float64(s.Tokens - x.Level)
	if gone <= 0 || read <= 0 {
		return Verdict{PerCall: math.Inf(1), Due: math.Inf(1)}
	}
	first := read // what a token that is not sent saves in this call
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
