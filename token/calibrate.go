package token

import (
	"math"
	"sync"

	"github.com/agentcompact/compact/message"
)

// A Calibrator corrects what an [Estimator] says of one model by what the
// provider billed. It learns a factor for each kind of text of a [Mix], and how
// far it was off, from which it makes an upper bound.
//
// A model whose tokenizer is published needs no correction and gets none:
// estimates stay as they are, and figures are not used. The methods may be
// called from many goroutines at once.
type Calibrator struct {
	exact bool

	mu    sync.Mutex
	state Calibration
	sent  ring // requests that wait for their figure
	known ring // requests whose figure is known
}

// A Calibration is what a [Calibrator] has learned, to be stored.
type Calibration struct {
	Prose        float64 `json:"prose"` // what a cost of this kind is multiplied by
	Code         float64 `json:"code"`
	Wide         float64 `json:"wide"`
	Fixed        float64 `json:"fixed"`
	Margin       float64 `json:"margin"` // how far the truth may be above the estimate, as a share of it
	Observations int     `json:"observations"`
}

// What is learned is bounded, so that one wrong figure does little harm.
const (
	firstMargin = 0.25 // before anything was observed
	leastMargin = 0.03
	mostMargin  = 0.5
	calmer      = 0.9 // what is left of the margin after an observation that it covered
	wary        = 1.5 // how much more than an underestimate the next one is taken for

	rate        = 0.5 // how much of an error is corrected at once
	step        = 0.1 // the most that a factor changes at once, as a share of it
	leastFactor = 0.5
	mostFactor  = 2.0
	implausible = 3.0 // a figure this many times off is not of this request
)

// NewCalibrator returns a calibrator for a model that has observed nothing.
func NewCalibrator(model string) *Calibrator {
	_, exact := EncodingForModel(model)
	return &Calibrator{exact: exact, state: Calibration{1, 1, 1, 1, firstMargin, 0}}
}

// An Estimate is what a request is expected to be billed at.
type Estimate struct {
	Tokens int     // the best guess
	Upper  int     // what it will hardly exceed; the same where the count is exact
	Factor float64 // Tokens as a multiple of what was counted; 1 where nothing was corrected
}

// Estimate corrects the cost of a request.
func (c *Calibrator) Estimate(counted Mix) Estimate {
	if c.exact {
		return Estimate{counted.Total(), counted.Total(), 1}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.estimate(0, counted)
}

// estimate adds the corrected cost to what is known to be billed.
func (c *Calibrator) estimate(billed int, counted Mix) Estimate {
	guess := c.state.weigh(counted)
	e := Estimate{Tokens: billed + round(guess), Upper: billed + round(guess*(1+c.state.Margin)), Factor: 1}
	if n := counted.Total(); n > 0 {
		e.Factor = guess / float64(n)
	}
	return e
}

// Within returns how much a request of the kinds of text that like has may
// count, so that what it will hardly exceed is no more than limit.
func (c *Calibrator) Within(limit int, like Mix) int {
	if c.exact {
		return limit
	}
	s := c.State()
	most := 0.0
	for _, kind := range []struct {
		factor float64
		n      int
	}{{s.Prose, like.Prose}, {s.Code, like.Code}, {s.Wide, like.Wide}, {s.Fixed, like.Fixed}} {
		if kind.n > 0 {
			most = max(most, kind.factor)
		}
	}
	if most == 0 {
		return limit
	}
	return int(float64(limit) / (most * (1 + s.Margin)))
}

// Sent notes that a request is sent that was counted so. request is its
// [RequestID]. The latest few hundred are remembered.
func (c *Calibrator) Sent(request message.Fingerprint, counted Mix) {
	if c.exact || counted.Total() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent.put(request, figure{mix: counted})
}

// Observe learns what a request was billed at, and reports whether the figure
// was used. It is not for a request that was not [Calibrator.Sent] or was
// observed before, nor if it is so far off that it must be of something else:
// some providers leave out of it what they had cached.
func (c *Calibrator) Observe(request message.Fingerprint, promptTokens int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.sent.take(request)
	if !ok {
		return false
	}
	guess := c.state.weigh(f.mix)
	if off := float64(promptTokens) / guess; off > implausible || off < 1/implausible {
		return false
	}
	c.state.learn(f.mix, float64(promptTokens), guess)
	f.billed = promptTokens
	c.known.put(request, f)
	return true
}

// Since estimates a request that repeats an earlier one and adds to it: what
// the earlier one was billed at, and the corrected cost of the rest. It returns
// false if the earlier request's figure is not known. An edit changes the
// [RequestID], so that a figure is never taken for something else.
func (c *Calibrator) Since(earlier message.Fingerprint, rest Mix) (Estimate, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.known.get(earlier)
	if !ok {
		return Estimate{}, false
	}
	return c.estimate(f.billed, rest), true
}

// State returns what has been learned.
func (c *Calibrator) State() Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Restore goes on from what was learned before. Figures out of bounds are
// brought into them.
func (c *Calibrator) Restore(s Calibration) {
	s.Prose, s.Code, s.Wide, s.Fixed = within(s.Prose), within(s.Code), within(s.Wide), within(s.Fixed)
	s.Margin = clamp(s.Margin, leastMargin, mostMargin)
	s.Observations = max(0, s.Observations)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = s
}

// weigh returns the corrected cost.
func (s *Calibration) weigh(m Mix) float64 {
	return s.Prose*float64(m.Prose) + s.Code*float64(m.Code) + s.Wide*float64(m.Wide) + s.Fixed*float64(m.Fixed)
}

// learn corrects each factor by its part in the error: a kind that makes up
// most of a request takes most of the blame.
func (s *Calibration) learn(m Mix, billed, guess float64) {
	missed := billed - guess
	s.Margin = clamp(math.Max(s.Margin*calmer, wary*missed/guess), leastMargin, mostMargin)
	s.Observations++
	square := 0.0
	for _, n := range []int{m.Prose, m.Code, m.Wide, m.Fixed} {
		square += float64(n) * float64(n)
	}
	for _, f := range []struct {
		factor *float64
		n      int
	}{{&s.Prose, m.Prose}, {&s.Code, m.Code}, {&s.Wide, m.Wide}, {&s.Fixed, m.Fixed}} {
		change := rate * missed * float64(f.n) / square
		most := step * *f.factor
		*f.factor = within(*f.factor + clamp(change, -most, most))
	}
}

func within(factor float64) float64 { return clamp(factor, leastFactor, mostFactor) }

// clamp also turns what is not a number into the low bound.
func clamp(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return math.Min(x, high)
}

func round(x float64) int { return int(math.Round(x)) }
