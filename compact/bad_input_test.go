package compact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
)

// An invalid input is reported once and ignored: the plan is the same as without
// it, and no view is larger than the window's trigger because of the input.
func TestBadInputMakesNoPlanWorse(t *testing.T) {
	const from, to = 38, 56
	good, _ := economic(t, nil)
	want := calledWith(good, from, to)
	if len(triggered(want)) == 0 {
		t.Fatal("nothing is compacted in these calls")
	}
	for _, tc := range []struct {
		name, said string
		prices     compact.PricesConfig
		after      func(r *rig, k *clock, res *compact.Result)
	}{
		{"a read price above the write price", "must not be above cache_write", compact.PricesConfig{Model: sonnet.Model, CacheRead: 9}, nil},
		{"a clock that runs backwards", "the clock ran backwards", sonnet, func(_ *rig, k *clock, _ *compact.Result) { k.at = k.at.Add(-time.Hour) }},
		{"more cached than sent", "contradicts the request", sonnet, func(r *rig, _ *clock, res *compact.Result) {
			n := res.After.Total
			r.Observe(res, compact.Usage{PromptTokens: n, CacheKnown: true, CachedTokens: n, WrittenTokens: n})
		}},
		{"another prompt, and nothing cached", "contradicts the request", sonnet, func(r *rig, _ *clock, res *compact.Result) {
			r.Observe(res, compact.Usage{PromptTokens: 3_000_000, CacheKnown: true})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, k := economic(t, func(c *compact.Config) { c.Prices = tc.prices })
			said := 0
			for n := from; n <= to; n++ {
				res := r.preflight(loop(n, 900))
				said += strings.Count(strings.Join(res.Warnings, "\n"), tc.said)
				if is := want[n-from]; bytesOf(res.Messages) != bytesOf(is.Messages) || res.Reason != is.Reason {
					t.Fatalf("call %d: %d tokens, %q; without it %d tokens, %q", n-from, res.After.Total, res.Reason, is.After.Total, is.Reason)
				}
				if tc.after != nil {
					tc.after(r, k, res)
				}
			}
			if said != 1 {
				t.Errorf("reported %d times, want once", said)
			}
		})
	}
}
