package token_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func requestID(n int) message.Fingerprint {
	return message.Fingerprint{byte(n), byte(n >> 8), byte(n >> 16), 1}
}

// provider bills with another tokenizer: with a factor for each kind of text, plus two
// percent of noise.
type provider struct {
	prose, code, wide float64
	rng               *rand.Rand
}

func (p provider) bill(m token.Mix) int {
	n := p.prose*float64(m.Prose) + p.code*float64(m.Code) + p.wide*float64(m.Wide) + float64(m.Fixed)
	return int(math.Round(n * (0.98 + 0.04*p.rng.Float64())))
}

func randomMix(rng *rand.Rand) token.Mix {
	return token.Mix{Prose: 500 + rng.IntN(20_000), Code: rng.IntN(60_000), Wide: rng.IntN(2) * rng.IntN(10_000), Fixed: 200 + rng.IntN(2_000)}
}

func TestCalibratorLearnsTheTokenizerOfAProvider(t *testing.T) {
	for name, p := range map[string]provider{
		"more for every class":  {1.2, 1.35, 1.1, rand.New(rand.NewPCG(1, 1))},
		"less for wide scripts": {1.05, 1.1, 0.7, rand.New(rand.NewPCG(1, 2))},
		"no difference":         {1, 1, 1, rand.New(rand.NewPCG(1, 3))},
		"much more for code":    {1.1, 1.8, 1.1, rand.New(rand.NewPCG(1, 4))},
		"less than was counted": {0.85, 0.8, 0.9, rand.New(rand.NewPCG(1, 5))},
	} {
		c := token.NewCalibrator("claude-sonnet-4")
		rng := rand.New(rand.NewPCG(2, 2))
		off, above, rounds := 0.0, 0, 0
		for i := range 400 {
			mix := randomMix(rng)
			billed, e := p.bill(mix), c.Estimate(mix)
			if i >= 100 {
				rounds++
				off += math.Abs(float64(e.Tokens-billed)) / float64(billed)
				if billed > e.Upper {
					above++
				}
			}
			c.Sent(requestID(i), mix)
			if !c.Observe(requestID(i), billed) {
				t.Fatalf("%s: figure %d was not used", name, i)
			}
		}
		if mean := off / float64(rounds); mean > 0.025 {
			t.Errorf("%s: off by %.1f%% on average after 100 observations: %+v", name, 100*mean, c.State())
		}
		if above*50 > rounds {
			t.Errorf("%s: %d of %d requests were billed above the upper bound: %+v", name, above, rounds, c.State())
		}
	}
}

func TestCalibratorLeavesExactCountsAlone(t *testing.T) {
	c := token.NewCalibrator("gpt-4o")
	mix := token.Mix{Prose: 1000, Code: 500}
	c.Sent(requestID(1), mix)
	if c.Observe(requestID(1), 1800) {
		t.Error("Observe used a figure although the counts are exact")
	}
	if got, want := c.Estimate(mix), (token.Estimate{Tokens: 1500, Upper: 1500, Factor: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestCalibratorBoundsTheEffectOfOneFigure(t *testing.T) {
	c := token.NewCalibrator("claude-sonnet-4")
	mix := token.Mix{Prose: 1000, Code: 9000}
	c.Sent(requestID(1), mix)
	c.Observe(requestID(1), 25_000)
	if s := c.State(); s.Code > 1.1+1e-9 || s.Prose > 1.1+1e-9 || s.Margin > 0.5 {
		t.Errorf("the state after one figure of 2.5 times the estimate: %+v", s)
	}
	c.Restore(token.Calibration{Prose: 0.6, Code: 0.6, Wide: 0.6, Fixed: 0.6, Margin: 0.1}) // the bound is a share of the factor
	c.Sent(requestID(2), mix)
	if c.Observe(requestID(2), 12_000); c.State().Code > 0.66+1e-9 {
		t.Errorf("the state after one figure of twice the estimate: %+v", c.State())
	}
	for i := range 100 {
		c.Sent(requestID(i), mix)
		c.Observe(requestID(i), 25_000)
	}
	if s := c.State(); s.Code > 2 || s.Prose > 2 || s.Margin > 0.5 {
		t.Errorf("the state after a hundred such figures: %+v", s)
	}
}

func TestCalibratorIgnoresUnrelatedFigures(t *testing.T) {
	mix := token.Mix{Prose: 10_000}
	for name, billed := range map[string]int{
		"only the uncached tokens": 120, "nothing": 0, "a negative figure": -5, "another conversation": 900_000,
	} {
		c := token.NewCalibrator("claude-sonnet-4")
		before := c.State()
		c.Sent(requestID(1), mix)
		if c.Observe(requestID(1), billed) || c.State() != before {
			t.Errorf("%s: %d tokens for an estimate of 10000 were believed", name, billed)
		}
	}
	c := token.NewCalibrator("claude-sonnet-4")
	if c.Observe(requestID(9), 10_000) {
		t.Error("a figure of a request that was never sent was used")
	}
	c.Sent(requestID(1), mix)
	c.Observe(requestID(1), 11_000)
	if c.Observe(requestID(1), 11_000) {
		t.Error("a figure was used twice")
	}
}

func TestCalibratorUsesTheBillOfAnEarlierRequest(t *testing.T) {
	c := token.NewCalibrator("claude-sonnet-4")
	earlier := []message.Message{message.System("s"), message.User("u")}
	id := token.RequestID(earlier, nil)
	c.Sent(id, token.Mix{Prose: 10_000})
	if _, ok := c.Since(id, token.Mix{}); ok {
		t.Error("Since returned an estimate from a request without a figure")
	}
	c.Observe(id, 12_345)
	e, ok := c.Since(id, token.Mix{Prose: 100})
	if !ok || e.Tokens < 12_445 || e.Tokens > 12_345+130 || e.Upper < e.Tokens {
		t.Errorf("12345 and a hundred more: %+v, %v", e, ok)
	}
	if margin := c.State().Margin; e.Upper-e.Tokens > int(130*margin)+1 {
		t.Errorf("the margin is one of the hundred, not of the bill: %+v with a margin of %v", e, margin)
	}
	edited := []message.Message{message.System("s"), message.User("[masked]")}
	if _, ok := c.Since(token.RequestID(edited, nil), token.Mix{}); ok {
		t.Error("the figure was applied to an edited request")
	}
	if _, ok := c.Since(token.RequestID(earlier, []byte("[]")), token.Mix{}); ok {
		t.Error("the figure was applied to a request with other tools")
	}
}

// A view of at most Within tokens has an upper bound of at most the limit. This holds for
// whichever kind of text has the largest factor.
func TestWithinIsTheCountWhoseUpperBoundIsTheLimit(t *testing.T) {
	const limit = 10_000
	for kind, mix := range map[string]func(n int) token.Mix{
		"prose": func(n int) token.Mix { return token.Mix{Prose: n} },
		"code":  func(n int) token.Mix { return token.Mix{Code: n} },
		"wide":  func(n int) token.Mix { return token.Mix{Wide: n} },
		"fixed": func(n int) token.Mix { return token.Mix{Fixed: n} },
	} {
		c, dearest := token.NewCalibrator("claude-sonnet-4"), token.Calibration{Prose: 0.9, Code: 0.9, Wide: 0.9, Fixed: 0.9, Margin: 0.2}
		if n := c.Within(limit, token.Mix{}); n != limit {
			t.Errorf("%s: Within returns %d for an empty mix", kind, n)
		}
		*map[string]*float64{"prose": &dearest.Prose, "code": &dearest.Code, "wide": &dearest.Wide, "fixed": &dearest.Fixed}[kind] = 1.5
		c.Restore(dearest)
		n := c.Within(limit, mix(1).Plus(token.Mix{Prose: 1, Code: 1, Wide: 1, Fixed: 1}))
		if most, more := c.Estimate(mix(n)).Upper, c.Estimate(mix(n+2)).Upper; most > limit || more <= limit {
			t.Errorf("%s: %d tokens have the upper bound %d (limit %d), two more tokens %d", kind, n, most, limit, more)
		}
	}
	if n := token.NewCalibrator("gpt-4").Within(limit, token.Mix{Wide: 1}); n != limit {
		t.Errorf("Within returns %d for a model that is counted exactly", n)
	}
}

func TestEstimateOfNothingIsZero(t *testing.T) {
	if got := token.NewCalibrator("claude-sonnet-4").Estimate(token.Mix{}); got != (token.Estimate{Factor: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestCalibratorForgetsOldRequests(t *testing.T) {
	c := token.NewCalibrator("claude-sonnet-4")
	for i := range 10_000 {
		c.Sent(requestID(i), token.Mix{Prose: 1000})
	}
	if c.Observe(requestID(0), 1000) {
		t.Error("the first of 10000 requests is remembered")
	}
	if !c.Observe(requestID(9_999), 1000) {
		t.Error("the last of 10000 requests is forgotten")
	}
}

// A request that is sent again, for example after an error, counts from then on.
func TestCalibratorRemembersARepeatedRequest(t *testing.T) {
	for _, observed := range []bool{false, true} {
		c := token.NewCalibrator("claude-sonnet-4-5")
		one := token.Mix{Prose: 1000}
		send := func(n int) message.Fingerprint {
			id := token.RequestID([]message.Message{message.User(strconv.Itoa(n))}, nil)
			c.Sent(id, one)
			return id
		}
		first := send(0)
		if observed && !c.Observe(first, 1000) {
			t.Fatal("the first usage is not used")
		}
		for n := range 510 {
			send(n + 1)
		}
		again := send(0)
		send(600)
		send(601)
		if !c.Observe(again, 1000) {
			t.Errorf("observed before (%v): the repeated request is forgotten two requests later", observed)
		}
	}
}

func TestCalibrationSurvivesARestart(t *testing.T) {
	c := token.NewCalibrator("claude-sonnet-4")
	mix := token.Mix{Prose: 1000, Code: 3000, Wide: 10, Fixed: 50}
	for i := range 5 {
		c.Sent(requestID(i), mix)
		c.Observe(requestID(i), 5000)
	}
	stored, err := json.Marshal(c.State())
	if err != nil {
		t.Fatal(err)
	}
	var s token.Calibration
	if err := json.Unmarshal(stored, &s); err != nil {
		t.Fatal(err)
	}
	again := token.NewCalibrator("claude-sonnet-4")
	again.Restore(s)
	if d := cmp.Diff(c.Estimate(mix), again.Estimate(mix)); d != "" {
		t.Errorf("(-before +after):\n%s", d)
	}
	again.Restore(token.Calibration{Prose: -1, Code: math.NaN(), Wide: 1e9, Margin: math.Inf(1), Observations: -3})
	if s, want := again.State(), (token.Calibration{Prose: 0.5, Code: 0.5, Wide: 2, Fixed: 0.5, Margin: 0.5}); s != want {
		t.Errorf("figures out of bounds became %+v, want %+v", s, want)
	}
}

func TestCalibratorIsSafeForConcurrentUse(t *testing.T) {
	c := token.NewCalibrator("claude-sonnet-4")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 { // fewer in total than are remembered
				id, mix := requestID(g*1000+i), token.Mix{Prose: 1000 + i}
				c.Sent(id, mix)
				c.Observe(id, 1100+i)
				if e := c.Estimate(mix); e.Upper < e.Tokens {
					t.Errorf("%+v", e)
				}
			}
		})
	}
	wg.Wait()
	if n := c.State().Observations; n != 400 {
		t.Errorf("%d observations, want 400", n)
	}
}
