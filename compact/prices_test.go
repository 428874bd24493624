package compact

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/memory"
)

func TestConfiguredPricesOverrideTheList(t *testing.T) {
	list, _ := price.For("claude-sonnet-4-5")
	for _, tc := range []struct {
		name   string
		prices PricesConfig
		check  func(price.Card) bool
	}{
		{"none", PricesConfig{}, func(c price.Card) bool { return c.Input == 2.5 && !c.Relative }},
		{"prices of another model", PricesConfig{Model: "claude-sonnet-4-5"}, func(c price.Card) bool { return c == list }},
		{"scaled", PricesConfig{Model: "claude-sonnet-4-5", Input: 6}, func(c price.Card) bool {
			return c.CacheWrite == 7.5 && c.CacheWriteHour == 12 && c.Output == 30 && c.Marks == 4
		}},
		{"both writes", PricesConfig{Input: 2, CacheRead: 0.2, CacheWrite: 3, CacheWriteHour: 5}, func(c price.Card) bool {
			return c.CacheRead == 0.2 && c.CacheWrite == 3 && c.CacheWriteHour == 5
		}},
		{"an hour price below the list", PricesConfig{Model: "claude-sonnet-4-5", CacheWriteHour: 5}, func(c price.Card) bool {
			return c.CacheWrite == 3.75 && c.CacheWriteHour == 5
		}},
		{"an hour costs no less", PricesConfig{Input: 2, CacheWrite: 3}, func(c price.Card) bool { return c.CacheWriteHour == 3 }},
		{"rules of the cache", PricesConfig{MinPrefix: 100, Granularity: 64, Lifetime: time.Hour, Marks: 2}, func(c price.Card) bool {
			return c.MinPrefix == 100 && c.Granularity == 64 && c.Lifetime == time.Hour && c.Marks == 2 && c.Input == 2.5
		}},
		{"prices from a card", PricesOf(list), func(c price.Card) bool { c.Source, c.Date = list.Source, list.Date; return c == list }},
	} {
		c, err := tc.prices.card("gpt-4o")
		if err != nil || !tc.check(c) {
			t.Errorf("%s: %+v, %v, want other prices and no error", tc.name, c, err)
		}
	}
}

// A price for an hour below the price for five minutes is a mistake, and is not
// corrected silently.
func TestAnHourForLessThanFiveMinutesIsAMistake(t *testing.T) {
	list, _ := price.For("claude-sonnet-4-5")
	c, err := PricesConfig{CacheWriteHour: 2}.card("claude-sonnet-4-5")
	if err == nil || !strings.Contains(err.Error(), "must not be above cache_write_hour (2)") || c != list {
		t.Errorf("%+v, %v; want %+v, an error with %q", c, err, list, "must not be above cache_write_hour (2)")
	}
}

func TestInvalidPricesAreReportedOnceAndIgnored(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4o", Archive: memory.New(), Prices: PricesConfig{CacheRead: 9, CacheWrite: 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	said := 0
	for i := range 3 {
		res, err := m.Preflight(t.Context(), "s", reads(1+i))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(strings.Join(res.Warnings, "\n"), "cache_read (9) must not be above cache_write (3)") {
			said++
		}
		if list, _ := price.For("gpt-4o"); res.Bill == nil || res.Bill.Prices != list.String() {
			t.Errorf("billed by %+v, want the list's prices", res.Bill)
		}
	}
	if said != 1 {
		t.Errorf("reported %d times, want once", said)
	}
}

// A plan reports the mistake each time, and later calls still report it.
func TestInvalidPricesAreReportedAfterAPlan(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4o", Archive: memory.New(), Prices: PricesConfig{CacheRead: 9, CacheWrite: 3}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	for i, c := range []struct {
		call func(context.Context, string, []message.Message, ...Option) (*Result, error)
		said bool
	}{{m.Plan, true}, {m.Plan, true}, {m.Preflight, true}, {m.Preflight, false}, {m.Plan, true}} {
		res, err := c.call(t.Context(), "s", reads(1))
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(strings.Join(res.Warnings, "\n"), "must not be above cache_write"); said != c.said {
			t.Errorf("call %d: said %v, want %v", i+1, said, c.said)
		}
	}
}

// Without a model the warning does not quote an empty name.
func TestPricesWithoutAModelAreReportedAsSuch(t *testing.T) {
	c, err := Preset("economy")
	if err != nil {
		t.Fatal(err)
	}
	c.MaxContextTokens, c.Archive = 100_000, memory.New()
	m, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	res, err := m.Preflight(t.Context(), "s", reads(1))
	if said := strings.Join(res.Warnings, "\n"); err != nil || !strings.Contains(said, "no model is named, so its price is not known") || strings.Contains(said, `""`) {
		t.Error(err, said)
	}
}
