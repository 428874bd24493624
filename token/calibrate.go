package token

import (
	"math"
	"sync"

	"github.com/agentcompact/compact/message"
)

// A Calibrator corrects the counts of an [Estimator] for one model, using the
// token counts that the provider bills. It learns a factor for each kind of text
// in a [Mix], and a margin for an upper bound.
//
// A model with a published tokenizer needs no correction: its estimates stay unchanged,
// and billed counts are ignored. The methods may be called concurrently.
type Calibrator struct {
	exact bool

	mu    sync.Mutex
	state Calibration
	sent  ring // requests whose billed count is not known yet
	known ring // requests whose billed count is known
}

// A Calibration is the stored state of a [Calibrator].
type Calibration struct {
	Prose        float64 `json:"prose"` // factor from our count to the billed count, for prose
	Code         float64 `json:"code"`
	Wide         float64 `json:"wide"`
	Fixed        float64 `json:"fixed"`
	Margin       float64 `json:"margin"`       // maximum excess of the billed count over the estimate, as a share of the estimate
	Observations int     `json:"observations"` // number of billed counts that were used
}

// All learned values have bounds, so that one wrong billed count has little
// effect.
const (
	firstMargin = 0.25 // before the first observation
	leastMargin = 0.03
	mostMargin  = 0.5
	calmer      = 0.9 // factor by which each observation reduces the margin
	wary        = 1.5 // the margin is at least this multiple of the last underestimate

	rate        = 0.5 // share of an error that one observation corrects
	step        = 0.1 // maximum change of a factor by one observation, as a share of the factor
	leastFactor = 0.5
	mostFactor  = 2.0
	implausible = 3.0 // a billed count that differs by this factor belongs to another request
)

// NewCalibrator returns a calibrator for a model, without observations.
func NewCalibrator(model string) *Calibrator {
	_, exact := EncodingForModel(model)
	return &Calibrator{exact: exact, state: Calibration{1, 1, 1, 1, firstMargin, 0}}
}

// An Estimate is the expected billed token count of a request.
type Estimate struct {
	Tokens int     // the best guess
	Upper  int     // an upper bound that is rarely exceeded; equal to Tokens if the count is exact
	Factor float64 // the correction: Tokens divided by the counted tokens; 1 if the count is exact
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

// estimate adds the corrected cost of counted to billed tokens.
func (c *Calibrator) estimate(billed int, counted Mix) Estimate {
	guess := c.state.weigh(counted)
	e := Estimate{Tokens: billed + round(guess), Upper: billed + round(guess*(1+c.state.Margin)), Factor: 1}
	if n := counted.Total(); n > 0 {
		e.Factor = guess / float64(n)
	}
	return e
}

// Within returns the largest count for a request whose [Estimate.Upper] does not
// exceed limit. like is a mix with the request's proportions of text.
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

// Sent records that a request with this count was sent. request is its
// [RequestID]. The latest few hundred requests are remembered.
func (c *Calibrator) Sent(request message.Fingerprint, counted Mix) {
	if c.exact || counted.Total() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent.put(request, figure{mix: counted})
}

// Observe learns from the billed token count of a request and reports whether
// it used the count. It ignores a request that [Calibrator.Sent] did not
// record, or that was observed before. It also ignores a count that is
// implausibly far off: some providers leave out cached tokens.
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

// Since estimates a request that extends an earlier one: the billed count of the
// earlier request, plus the corrected cost of rest. It returns false if the
// billed count of the earlier request is not known. An edit changes the
// [RequestID], so a count is never used for other content.
func (c *Calibrator) Since(earlier message.Fingerprint, rest Mix) (Estimate, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.known.get(earlier)
	if !ok {
		return Estimate{}, false
	}
	return c.estimate(f.billed, rest), true
}

// State returns the learned state.
func (c *Calibrator) State() Calibration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Restore continues from a stored state. Values out of bounds are clamped.
func (c *Calibrator) Restore(s Calibration) {
	s.Prose, s.Code, s.Wide, s.Fixed = within(s.Prose), within(s.Code), within(s.Wide), within(s.Fixed)
	s.Margin = clamp(s.Margin, leastMargin, mostMargin)
	s.Observations = max(0, s.Observations)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = s
}

// weigh returns the corrected cost of m.
func (s *Calibration) weigh(m Mix) float64 {
	return s.Prose*float64(m.Prose) + s.Code*float64(m.Code) + s.Wide*float64(m.Wide) + s.Fixed*float64(m.Fixed)
}

// learn corrects each factor in proportion to the share of its kind in the
// request: a kind that makes up most of a request takes most of the error.
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

// clamp bounds x to [low, high]. It turns NaN into low.
func clamp(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return math.Min(x, high)
}

func round(x float64) int { return int(math.Round(x)) }
