package compact_test

import (
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

func TestObserveCorrectsTheBoundOfModelsWithoutAPublicTokenizer(t *testing.T) {
	r := newRig(t, compact.Config{Model: "claude-sonnet-4", MaxContextTokens: 100_000})
	history := turns(20, 200)
	before := r.preflight(history)
	if before.UpperBound <= before.After.Total {
		t.Fatalf("upper bound %d of an estimate of %d", before.UpperBound, before.After.Total)
	}
	for range 8 {
		res := r.preflight(history)
		if !r.Observe(res, compact.Usage{PromptTokens: res.After.Total * 12 / 10}) {
			t.Fatal("the figure was not used")
		}
		if r.Observe(res, compact.Usage{PromptTokens: res.After.Total * 12 / 10}) {
			t.Fatal("the figure was used twice")
		}
	}
	after := r.preflight(history)
	if low := after.After.Total * 115 / 100; after.UpperBound < low {
		t.Errorf("upper bound %d; the provider bills 20 %% more than %d, want at least %d", after.UpperBound, after.After.Total, low)
	}
	if r.Observe(r.preflight(history), compact.Usage{PromptTokens: 1}) {
		t.Error("Observe used a figure that can't belong to this request")
	}
}

func TestObserveLeavesExactCountsAlone(t *testing.T) {
	r := newRig(t, compact.Config{Model: "gpt-4o"})
	res := r.preflight(turns(3, 50))
	if r.Observe(res, compact.Usage{PromptTokens: 999}) || res.UpperBound != res.Before.Total {
		t.Errorf("an exact count was corrected: upper bound %d of %d", res.UpperBound, res.Before.Total)
	}
}

// Tokens that the caller counted need no correction: a usage equal to the count
// corrects nothing.
func TestTokensOfTheCallerAreNotCorrected(t *testing.T) {
	r := newRig(t, compact.Config{Model: "claude-sonnet-4", MaxContextTokens: 100_000})
	history := turns(20, 200)
	before := r.preflight(history, compact.WithFixed(5_000))
	for range 8 {
		res := r.preflight(history, compact.WithFixed(5_000))
		if !r.Observe(res, compact.Usage{PromptTokens: res.After.Total}) {
			t.Fatal("the figure was not used")
		}
	}
	after := r.preflight(history, compact.WithFixed(5_000))
	p := dataOf[trace.TokenEstimate](t, last(t, r, trace.NameTokenEstimate))
	if p.Factor != 1 || after.UpperBound >= before.UpperBound || after.UpperBound <= after.After.Total {
		t.Errorf("factor %v; upper bound %d, then %d, of %d", p.Factor, before.UpperBound, after.UpperBound, after.After.Total)
	}
}

// A counter of the caller counts as exact for every model.
func TestAnOwnCounterIsExact(t *testing.T) {
	r := newRig(t, compact.Config{Model: "claude-sonnet-4", Counter: token.Chars, MaxContextTokens: 100_000})
	if res := r.preflight(turns(20, 200)); res.UpperBound != res.After.Total {
		t.Errorf("upper bound %d of a count of %d", res.UpperBound, res.After.Total)
	}
}

// If the number that decided differs from the count, an event states both.
func TestDecisionStatesTheBoundAndTheCount(t *testing.T) {
	for model, approximate := range map[string]bool{"claude-sonnet-4": true, "gpt-4o": false} {
		r := newRig(t, compact.Config{Model: model, MaxContextTokens: 100_000})
		res := r.preflight(turns(20, 200))
		p := dataOf[trace.TriggerDecision](t, last(t, r, trace.NameTriggerDecision))
		want := map[bool]int{true: res.Before.Total}[approximate]
		if p.TEst != res.UpperBound || p.Estimated != want {
			t.Errorf("%s: decided by %d, counted %d; want %d and %d", model, p.TEst, p.Estimated, res.UpperBound, want)
		}
	}
}

// A process continues with the calibration of an earlier process, from the ledger.
func TestCalibrationOutlivesTheProcess(t *testing.T) {
	c := compact.Config{Model: "claude-sonnet-4", MaxContextTokens: 20_000, Archive: memory.New()}
	first := newRig(t, c)
	for range 8 {
		res := first.preflight(turns(10, 400))
		first.Observe(res, compact.Usage{PromptTokens: res.After.Total * 14 / 10})
	}
	history := turns(40, 400)
	if res := first.preflight(history); !res.Triggered {
		t.Fatal("no compaction was triggered")
	}
	want := first.preflight(history)
	if got := newRig(t, c).preflight(history); got.UpperBound != want.UpperBound || got.Triggered {
		t.Errorf("upper bound %d, before the restart %d; triggered %v", got.UpperBound, want.UpperBound, got.Triggered)
	}
}

// The calibration of one model does not apply to another: a session that changes its
// model begins with the calibration of the new model.
func TestCalibrationBelongsToOneModel(t *testing.T) {
	c := compact.Config{Model: "claude-sonnet-4", MaxContextTokens: 20_000, Archive: memory.New()}
	first := newRig(t, c)
	for range 8 {
		res := first.preflight(turns(10, 400))
		first.Observe(res, compact.Usage{PromptTokens: res.After.Total * 14 / 10})
	}
	history := turns(40, 400)
	if res := first.preflight(history); !res.Triggered {
		t.Fatal("no compaction was triggered")
	}
	learned := newRig(t, c).preflight(history)
	c.Model = "claude-opus-4"
	if got, want := newRig(t, c).preflight(history), newRig(t, compact.Config{Model: c.Model, MaxContextTokens: c.MaxContextTokens}).preflight(learned.Messages); got.UpperBound != want.UpperBound || got.UpperBound == learned.UpperBound {
		t.Errorf("upper bound %d of a view of %d tokens; want %d, without the first model's calibration (%d)", got.UpperBound, got.After.Total, want.UpperBound, learned.UpperBound)
	}
}

// The possible shortfall of the estimate counts as tokens.
func TestUpperBoundTriggers(t *testing.T) {
	history := loop(40, 350)
	for model, want := range map[string]bool{"gpt-4o": false, "claude-sonnet-4": true} {
		res := newRig(t, compact.Config{Model: model, MaxContextTokens: 20_000}).preflight(history)
		if res.Triggered != want || res.Before.Total >= 17_000 {
			t.Errorf("%s: %d tokens, due from 17,000: triggered %v; want less than 17000 and %v", model, res.Before.Total, res.Triggered, want)
		}
	}
}

// The bound belongs to the view, whether the view is sent or only planned.
func TestUpperBoundCoversTheView(t *testing.T) {
	for _, model := range []string{"gpt-4o", "claude-sonnet-4"} {
		r := newRig(t, compact.Config{Model: model, MaxContextTokens: 20_000})
		history := turns(30, 400)
		plan, err := r.Plan(t.Context(), "s", history)
		if err != nil {
			t.Fatal(err)
		}
		for name, res := range map[string]*compact.Result{"plan": plan, "preflight": r.preflight(history)} {
			if !res.Triggered || res.UpperBound < res.After.Total || res.UpperBound >= res.Before.Total {
				t.Errorf("%s of %s: upper bound %d of a view of %d tokens, of a history of %d", name, model, res.UpperBound, res.After.Total, res.Before.Total)
			}
		}
	}
}

func TestUnknownTokenizerDoesNotCompactEveryTurn(t *testing.T) {
	r := newRig(t, compact.Config{Model: "claude-sonnet-4", MaxContextTokens: 20_000})
	history := turns(30, 400)
	compactions := 0
	for i := range 12 {
		res := r.preflight(history)
		if res.Triggered {
			compactions++
		}
		history = append(history, turns(1, 100)[1:]...)
		_ = i
	}
	if compactions != 1 {
		t.Errorf("%d compactions in 12 short turns, want 1", compactions)
	}
}
