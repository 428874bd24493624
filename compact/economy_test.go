package compact_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

func economic(t *testing.T, change func(*compact.Config)) (*rig, *clock) {
	t.Helper()
	c, err := compact.Preset("economy")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Storage.Adapter, c.Prices = "gpt-4o", 200_000, "memory", sonnet
	if change != nil {
		change(&c)
	}
	return priced(t, c)
}

// calledWith calls with a loop that grows by a round each time, and returns the
// results of all calls.
func calledWith(r *rig, from, to int) (all []*compact.Result) {
	for n := from; n <= to; n++ {
		all = append(all, r.preflight(loop(n, 900)))
	}
	return all
}

func triggered(all []*compact.Result) (at []int) {
	for i, res := range all {
		if res.Triggered {
			at = append(at, i)
		}
	}
	return at
}

func TestEconomyCompactsAtTheFirstSaving(t *testing.T) {
	r, _ := economic(t, nil)
	all := calledWith(r, 1, 70)
	at := triggered(all)
	if len(at) == 0 || len(at) > 5 {
		t.Fatalf("compacted at %v of 70 calls", at)
	}
	for _, i := range at {
		res := all[i]
		chosen := 0
		for _, x := range res.Candidates {
			if x.Chosen {
				chosen++
				if !x.Pays || !x.Safe || res.Before.Total < x.Due || res.After.Total > x.Due {
					t.Errorf("call %d: %d → %d tokens by %+v, want at least %d and at most %d", i, res.Before.Total, res.After.Total, x, x.Due, x.Due)
				}
				if off := res.After.Total - x.Level; off > x.Level/4 || off < -x.Level/4 {
					t.Errorf("call %d: a view of %d tokens, %d were expected", i, res.After.Total, x.Level)
				}
			}
		}
		if chosen != 1 || res.Reason != trace.ReasonEconomic || res.Before.Total >= res.Trigger {
			t.Errorf("call %d: %d chosen, %s at %d of %d tokens", i, chosen, res.Reason, res.Before.Total, res.Trigger)
		}
	}
	if b := all[len(all)-1].Bill.Session; b.EstimatedUSD >= b.WholeUSD {
		t.Errorf("nothing was saved: %+v", b)
	}
	decisions := 0
	for _, e := range r.named(trace.NameTriggerDecision) {
		var d trace.TriggerDecision
		if err := json.Unmarshal([]byte(e.Data.String()), &d); err != nil {
			t.Fatal(err)
		}
		if d.Triggered && len(d.Candidates) > 1 {
			decisions++
		}
	}
	if decisions != len(at) {
		t.Errorf("%d events with candidates, %d compactions", decisions, len(at))
	}
}

// Two neighboring mask offers differ by at most a third of the turns. With larger
// differences, a mask would remove results too early, which costs more than a
// compaction saves.
func TestEconomyOffersMasksInSmallSteps(t *testing.T) {
	r, _ := economic(t, nil)
	most := []int{0, 0} // masks alone, and masks with cuts
	for _, res := range calledWith(r, 1, 70) {
		var masks, beside []int
		for _, x := range res.Candidates {
			switch {
			case !x.Cut:
				masks = append(masks, x.Keep.Turns)
			case x.Mask > 0 && x.Keep.Turns == 45:
				beside = append(beside, x.Mask)
			}
		}
		for k, turns := range [][]int{masks, beside} {
			most[k] = max(most[k], len(turns))
			for i := 1; i < len(turns); i++ {
				if turns[i] <= turns[i-1] || 8*turns[i] > 11*turns[i-1] {
					t.Fatalf("masks keep the results of %v turns", turns)
				}
			}
		}
	}
	if most[0] < 8 || most[1] < 8 {
		t.Errorf("at most %v masks are offered", most)
	}
}

func TestOtherPresetsUseOnlyTheWindow(t *testing.T) {
	for _, when := range []policy.When{policy.AtWindow, policy.AtTrigger} { // which are the same
		r, _ := economic(t, func(c *compact.Config) { c.Policy.When = when })
		for i, res := range calledWith(r, 65, 70) {
			if res.Triggered || res.Candidates != nil {
				t.Fatalf("%s, call %d: triggered %v, %d candidates, want false", when, i, res.Triggered, len(res.Candidates))
			}
		}
	}
}

func TestTheWindowStaysTheUpperBound(t *testing.T) {
	r, _ := economic(t, func(c *compact.Config) { c.MaxContextTokens, c.Policy.OverrunPct = 20_000, 1e-9 })
	all := calledWith(r, 1, 40)
	at := triggered(all)
	if len(at) == 0 || all[at[0]].Reason != trace.ReasonUsage {
		t.Fatalf("compacted at %v", at)
	}
	for i, res := range all {
		if res.After.Total > res.Budget {
			t.Errorf("call %d: %d of %d tokens", i, res.After.Total, res.Budget)
		}
	}
}

// A step that prices triggered is applied in another process like any other step.
func TestEconomicViewIsTheSameInAnotherProcess(t *testing.T) {
	archive := memory.New()
	of := func(c *compact.Config) { c.Archive = archive }
	first, _ := economic(t, of)
	all := calledWith(first, 1, 60)
	if len(triggered(all)) == 0 {
		t.Fatal("no call was compacted")
	}
	want := all[len(all)-1]
	second, _ := economic(t, of)
	got := second.preflight(loop(60, 900))
	if got.Triggered || got.After.Total != want.After.Total || len(got.Messages) != len(want.Messages) {
		t.Fatalf("triggered %v: %d tokens in %d messages, want %d in %d", got.Triggered, got.After.Total, len(got.Messages), want.After.Total, len(want.Messages))
	}
	for i := range got.Messages {
		if !message.Identical(got.Messages[i], want.Messages[i]) {
			t.Errorf("message %d differs", i)
		}
	}
}

// After a long pause, a session writes its whole prompt into the cache in any
// case.
func TestEconomyUsesAColdCache(t *testing.T) {
	firstAt := func(sleep bool) int {
		r, k := economic(t, nil)
		for n := 1; n <= 60; n++ {
			if sleep && n%5 == 0 {
				k.at = k.at.Add(10 * time.Minute)
			}
			res := r.preflight(loop(n, 900))
			if !res.Triggered {
				continue
			}
			for _, x := range res.Candidates {
				if free := x.FixedUSD == 0; free != sleep {
					t.Errorf("slept %v, call %d: tokens that are written in any case are charged: %+v", sleep, n, x)
				}
			}
			return n
		}
		return 61
	}
	if warm, cold := firstAt(false), firstAt(true); cold >= warm {
		t.Errorf("compacted at call %d in a cold cache, at %d in a warm one", cold, warm)
	}
}

func TestPlanOfEconomyEqualsTheCall(t *testing.T) {
	r, _ := economic(t, nil)
	for n := 1; n <= 45; n++ {
		plan, err := r.Plan(context.Background(), "s", loop(n, 900))
		if err != nil {
			t.Fatal(err)
		}
		res := r.preflight(loop(n, 900))
		if plan.Triggered != res.Triggered || plan.After.Total != res.After.Total || len(plan.Candidates) != len(res.Candidates) {
			t.Fatalf("call %d: planned %v, %d tokens, %d candidates; done %v, %d, %d", n, plan.Triggered, plan.After.Total, len(plan.Candidates),
				res.Triggered, res.After.Total, len(res.Candidates))
		}
	}
}

func TestEconomyReportsItsInputs(t *testing.T) {
	c, err := compact.Preset("economy")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens = "in-house-7b", 200_000
	r := newRig(t, c)
	res := r.preflight(loop(2, 900))
	if !res.Bill.Relative || !strings.Contains(strings.Join(res.Warnings, "\n"), "the price ratios of its provider") {
		t.Errorf("relative %v, warnings %q, want true", res.Bill.Relative, res.Warnings)
	}
}
