package compact_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// economical returns a configuration whose economic trigger compares candidates in each call, and
// compacts nothing: the prices of cached tokens are too low for a compaction to pay.
func economical(t testing.TB, a storage.Archive) compact.Config {
	t.Helper()
	c, err := compact.Preset("economy")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive = "claude-sonnet-4-5", 1_000_000, a
	c.Prices = compact.PricesConfig{Input: 3, CacheRead: 0.0003, CacheWrite: 3.75, Output: 15}
	return c
}

// BenchmarkPlan measures the second call of a session of 1,000 messages, which adds two
// messages and compacts nothing, with the window's trigger and with the economic one,
// which computes the price of each candidate. Both take turns, because other load changes
// the speed of the machine. The metric plan-ms is the difference of the medians.
func BenchmarkPlan(b *testing.B) {
	history := longSession(1000, 800)
	whens := []policy.When{policy.AtWindow, policy.Economic}
	managers := map[policy.When]*compact.CompactManager{}
	for _, when := range whens {
		c := economical(b, memory.New())
		c.Policy.When = when
		m, err := compact.New(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		defer m.Close(context.WithoutCancel(b.Context()))
		managers[when] = m
	}
	spent := map[policy.When][]time.Duration{}
	for b.Loop() {
		for _, when := range whens {
			m, id := managers[when], fmt.Sprintf("session-%d", len(spent[when]))
			if _, err := m.Preflight(b.Context(), id, history[:998]); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			res, err := m.Preflight(b.Context(), id, history)
			spent[when] = append(spent[when], time.Since(began))
			if err != nil || res.Triggered || (len(res.Candidates) > 0) != (when == policy.Economic) {
				b.Fatalf("%s: %d candidates, triggered: %v, %v", when, len(res.Candidates), res.Triggered, err)
			}
		}
	}
	median := map[policy.When]float64{}
	for _, when := range whens {
		slices.Sort(spent[when])
		median[when] = spent[when][len(spent[when])/2].Seconds() * 1e3
		b.ReportMetric(median[when], string(when)+"-ms")
	}
	b.ReportMetric(median[policy.Economic]-median[policy.AtWindow], "plan-ms")
}
