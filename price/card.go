package price

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"
)

// A Card holds the prices of one model and the rules of its provider's prompt
// cache. Prices are in US dollars per million tokens. The zero Card is not
// valid; take one from [For], or fill one and call [Card.Validate].
type Card struct {
	Model string `json:"model"` // the name, or the part of names, that the card is for

	Input          float64 `json:"input"`            // prompt tokens that have nothing to do with the cache
	CacheRead      float64 `json:"cache_read"`       // prompt tokens that were read from the cache
	CacheWrite     float64 `json:"cache_write"`      // prompt tokens that were written into the cache, at its shorter lifetime
	CacheWriteHour float64 `json:"cache_write_hour"` // the same at a lifetime of an hour; equal to CacheWrite where there is one lifetime
	Output         float64 `json:"output"`           // tokens of the answer, reasoning included

	MinPrefix   int           `json:"min_prefix"`  // tokens; a shorter prefix is not cached. 0 = the provider caches nothing
	Granularity int           `json:"granularity"` // tokens; the length of a cached prefix is a multiple of it
	Lifetime    time.Duration `json:"-"`           // of a cached prefix that nobody reads
	Marks       int           `json:"marks"`       // how many prefixes a request may mark for the cache; 0 = the provider caches by itself

	// Relative: the provider is known and the model is not. The prices are in
	// units of its input price, and only their ratios mean something.
	Relative bool `json:"relative"`

	Source string `json:"source"` // where the prices stand
	Date   string `json:"date"`   // the day they were looked up, as 2006-01-02
}

// Caches reports whether reading from the cache is cheaper than sending anew.
func (c Card) Caches() bool { return c.MinPrefix > 0 && c.CacheRead < c.Input }

// String names the card, and where its prices stand: "claude
// (github.com/simonw/llm-prices, 2026-08-05)".
func (c Card) String() string {
	name := cmp.Or(c.Model, "an unknown model")
	if c.Date == "" {
		return name + " (" + c.Source + ")"
	}
	return name + " (" + c.Source + ", " + c.Date + ")"
}

// Scaled returns the card with an input price in US dollars per million tokens,
// and the others in proportion. 0 leaves it as it is.
func (c Card) Scaled(input float64) Card {
	if input <= 0 || c.Input <= 0 {
		return c
	}
	by := input / c.Input
	c.Input = input
	c.CacheRead, c.CacheWrite, c.CacheWriteHour, c.Output = by*c.CacheRead, by*c.CacheWrite, by*c.CacheWriteHour, by*c.Output
	c.Relative = false
	return c
}

// Validate returns every reason why the card can't be used, joined.
func (c Card) Validate() error {
	var errs []error
	for _, p := range []struct {
		name  string
		price float64
	}{
		{"input", c.Input}, {"cache_read", c.CacheRead}, {"cache_write", c.CacheWrite},
		{"cache_write_hour", c.CacheWriteHour}, {"output", c.Output},
	} {
		if math.IsNaN(p.price) || math.IsInf(p.price, 0) || p.price < 0 {
			errs = append(errs, fmt.Errorf("%s must be a price of 0 or more (got %v)", p.name, p.price))
		}
	}
	if c.Input == 0 {
		errs = append(errs, errors.New("input must be above 0"))
	}
	if c.CacheRead > c.CacheWrite {
		errs = append(errs, fmt.Errorf("cache_read (%v) must not be above cache_write (%v)", c.CacheRead, c.CacheWrite))
	}
	if c.CacheWrite > c.CacheWriteHour {
		errs = append(errs, fmt.Errorf("cache_write (%v) must not be above cache_write_hour (%v)", c.CacheWrite, c.CacheWriteHour))
	}
	if c.MinPrefix < 0 || c.Marks < 0 || c.Lifetime < 0 {
		errs = append(errs, errors.New("min_prefix, marks and lifetime must be 0 or more"))
	}
	if c.MinPrefix > 0 && c.Granularity < 1 {
		errs = append(errs, fmt.Errorf("granularity must be 1 or more (got %d)", c.Granularity))
	}
	return errors.Join(errs...)
}
