package compact

import (
	"fmt"
	"time"

	"github.com/agentcompact/compact/price"
)

// PricesConfig overrides the list prices of a model, in US dollars per million
// tokens. A zero field keeps the list price, which is scaled to Input if Input is
// set.
type PricesConfig struct {
	// Model is the model whose list prices apply to every call; "": the model of the
	// call.
	Model string `mapstructure:"model"`
	// Input is the price of prompt tokens without caching.
	Input float64 `mapstructure:"input" validate:"gte=0,lte=1000000"`
	// CacheRead is the price of prompt tokens that the provider reads from its
	// cache.
	CacheRead float64 `mapstructure:"cache_read" validate:"gte=0,lte=1000000"`
	// CacheWrite is the price of prompt tokens that it writes into the cache for
	// the shorter lifetime.
	CacheWrite float64 `mapstructure:"cache_write" validate:"gte=0,lte=1000000"`
	// CacheWriteHour is the same for a lifetime of an hour.
	CacheWriteHour float64 `mapstructure:"cache_write_hour" validate:"gte=0,lte=1000000"`
	// Output is the price of the tokens of answers.
	Output float64 `mapstructure:"output" validate:"gte=0,lte=1000000"`
	// MinPrefix is the shortest prompt, in tokens, that the provider caches.
	MinPrefix int `mapstructure:"min_prefix" validate:"gte=0"`
	// Granularity is a number of tokens: the length of a cached prefix is a multiple of
	// it.
	Granularity int `mapstructure:"granularity" validate:"gte=0"`
	// Lifetime is how long the provider keeps a prefix after its last use.
	Lifetime time.Duration `mapstructure:"lifetime" validate:"gte=0"`
	// Marks is the maximum number of cache marks in a request; 0 in the list for
	// providers that cache automatically.
	Marks int `mapstructure:"marks" validate:"gte=0"`
}

// PricesOf returns the settings equivalent to a card.
func PricesOf(c price.Card) PricesConfig {
	return PricesConfig{
		Model: c.Model, Input: c.Input, CacheRead: c.CacheRead, CacheWrite: c.CacheWrite, CacheWriteHour: c.CacheWriteHour, Output: c.Output,
		MinPrefix: c.MinPrefix, Granularity: c.Granularity, Lifetime: c.Lifetime, Marks: c.Marks,
	}
}

// card returns the price card for a model. If the settings can't be used, it
// returns the list's card and an error.
func (p PricesConfig) card(model string) (price.Card, error) {
	if p.Model != "" {
		model = p.Model
	}
	list, _ := price.For(model)
	c := list.Scaled(p.Input)
	given := p != PricesConfig{Model: p.Model}
	for _, f := range []struct {
		to   *float64
		from float64
	}{{&c.CacheRead, p.CacheRead}, {&c.CacheWrite, p.CacheWrite}, {&c.CacheWriteHour, p.CacheWriteHour}, {&c.Output, p.Output}} {
		if f.from > 0 {
			*f.to = f.from
		}
	}
	c.CacheWriteHour = max(c.CacheWriteHour, p.CacheWriteHour, c.CacheWrite)
	if p.CacheWriteHour > 0 {
		c.CacheWriteHour = p.CacheWriteHour
	}
	for _, f := range []struct{ to, from *int }{{&c.MinPrefix, &p.MinPrefix}, {&c.Granularity, &p.Granularity}, {&c.Marks, &p.Marks}} {
		if *f.from > 0 {
			*f.to = *f.from
		}
	}
	if p.Lifetime > 0 {
		c.Lifetime = p.Lifetime
	}
	if c.MinPrefix > 0 {
		c.Granularity = max(c.Granularity, 1)
	}
	if given {
		c.Source, c.Date = "configuration", ""
	}
	if err := c.Validate(); err != nil {
		return list, fmt.Errorf("prices can't be used: %w", err)
	}
	return c, nil
}
