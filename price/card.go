package price

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"
)

// A Card holds the prices of one model and the rules of its provider's prompt
// cache. Prices are in US dollars per million tokens. The zero Card is not valid;
// take one from [For], or fill one and call [Card.Validate].
type Card struct {
	Model string `json:"model"` // the name of the model, or a part of the names of several models

	Input      float64 `json:"input"`       // prompt tokens neither read from nor written into the cache
	CacheRead  float64 `json:"cache_read"`  // prompt tokens read from the cache
	CacheWrite float64 `json:"cache_write"` // prompt tokens written into the cache, for the shorter lifetime
	// the same for a lifetime of an hour; equal to CacheWrite if there is only one lifetime
	CacheWriteHour float64 `json:"cache_write_hour"`
	Output         float64 `json:"output"` // tokens of the answer, reasoning included

	MinPrefix   int           `json:"min_prefix"`  // tokens; a shorter prefix is not cached. 0 = the provider caches nothing
	Granularity int           `json:"granularity"` // tokens; the length of a cached prefix is a multiple of it
	Lifetime    time.Duration `json:"-"`           // time that a cached prefix is kept without being read
	// number of prefixes that a request may mark for the cache; 0 = the provider caches automatically
	Marks int `json:"marks"`

	// Relative: the provider is known and the model is not. The prices are
	// multiples of the input price, and only their ratios are meaningful.
	Relative bool `json:"relative"`

	Source string `json:"source"` // where the prices are published
	Date   string `json:"date"`   // the day of the look-up, as 2006-01-02
}

// Caches reports whether a token read from the cache is cheaper than a token
// sent as new input.
func (c Card) Caches() bool { return c.MinPrefix > 0 && c.CacheRead < c.Input }

// String returns the name of the card and the source of its prices: "claude
// (github.com/simonw/llm-prices, 2026-08-05)".
func (c Card) String() string {
	name := cmp.Or(c.Model, "an unknown model")
	if c.Date == "" {
		return name + " (" + c.Source + ")"
	}
	return name + " (" + c.Source + ", " + c.Date + ")"
}

// Scaled returns the card with the given input price in US dollars per million
// tokens, and the other prices in proportion. An input of 0 changes nothing.
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

// Validate returns an error that joins every reason why the card is not valid.
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
