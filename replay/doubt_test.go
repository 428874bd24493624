package replay

import (
	"encoding/json"
	"strings"
	"testing"
)

// The share that a choice keeps is certain only if the whole interval is above the
// requested share.
func TestAShareIsCertainByItsInterval(t *testing.T) {
	for _, c := range []struct {
		held    Interval
		certain bool
	}{
		{Interval{0.95, 0.91, 0.99}, true}, {Interval{0.95, 0.85, 0.99}, false}, {Interval{0.85, 0.8, 0.95}, false},
	} {
		x := &Tuning{Options: TuneOptions{Keep: 0.9}, Sessions: 20, Projects: 4, Folds: 4, Expected: Figures{Held: c.held, OfPreset: Interval{0.9, 0.8, 0.95}}}
		x.doubt()
		if certain := !strings.Contains(strings.Join(x.TooFew, ". "), "is not certain"); certain != c.certain {
			t.Errorf("%+v of at least 90 %%: %q", c.held, x.TooFew)
		}
	}
}

// A setting that leaves calls above the window is never chosen. If a search begins
// after the first calls, the identifiers that these calls need are counted, too.
func TestASearchCountsCallsAboveTheWindow(t *testing.T) {
	s, over := session("a", 40), 0
	tu, err := newTuner(t.Context(), []*Session{s}, &TuneOptions{Window: 8000, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	raw := tu.runs[0].raw
	for _, c := range raw[:len(raw)-1] {
		if c.before.over != over {
			t.Fatalf("before a prompt of %d tokens %d calls are above the window, want %d", c.prompt, c.before.over, over)
		}
		over += one(c.prompt > 8000)
	}
	if total := raw[len(raw)-1].before.over; over == 0 || total != over {
		t.Errorf("%d calls are above the window, want %d", total, over)
	}
}

// A policy without an archive recalls nothing. Its share of recalls is unknown, and not
// 0.
func TestOnlyAPolicyThatRecallsHasAShareOfRecalls(t *testing.T) {
	rep := run(t, Options{Policies: []Policy{DropOldest(3), preset(t, "graduated")}, Windows: []int{8000}}, session("a", 60))
	drop, graduated := rep.Totals[0], rep.Totals[1]
	if drop.Kept.Missing() == 0 || drop.Recall != nil {
		t.Errorf("drop: %d are missing, of which %+v are recalled", drop.Kept.Missing(), drop.Recall)
	}
	if graduated.Kept.Missing() == 0 || graduated.Recall == nil || graduated.Recall.Value == 0 {
		t.Errorf("graduated: %d are missing, of which %+v are recalled", graduated.Kept.Missing(), graduated.Recall)
	}
}

// Events without a span, from programs that write no spans, each count as a call of
// their own.
func TestEventsWithoutASpanCountAsSeparateCalls(t *testing.T) {
	a, spans := &Account{}, map[string]int{}
	for _, line := range []string{
		`{"name":"before_model_call","data":{"model":"m","tokens_before":10,"tokens_after":10}}`,
		`{"name":"before_model_call","data":{"model":"m","tokens_before":20,"tokens_after":20}}`,
		`{"name":"compact.usage","data":{"prompt_tokens_measured":10,"measured_usd":1}}`,
		`{"name":"compact.usage","data":{"prompt_tokens_measured":20,"measured_usd":2}}`,
		`{"name":"compact.error","data":{"error_type":"A","message":"a"}}`,
		`{"name":"compact.error","data":{"error_type":"A","message":"a"}}`,
	} {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		a.take(&e, spans)
	}
	if len(a.Calls) != 2 || len(a.Usages) != 2 || len(a.Errors) != 2 {
		t.Errorf("%d calls, %d usages, %d errors; want 2 of each", len(a.Calls), len(a.Usages), len(a.Errors))
	}
}

// The first sessions of a search may happen to be hard. A setting that keeps a little too
// little there stays in the search, and a setting that keeps much too little does not.
func TestSearchForgivesASmallShortfallOnTheFirstSessions(t *testing.T) {
	better := candidate{1}
	for _, c := range []struct {
		held  int
		cost  float64
		whole bool
	}{{90, 0.5, true}, {88, 0.5, true}, {86, 0.5, false}, {95, 1.02, true}, {95, 1.1, false}} {
		tu := &tuner{o: &TuneOptions{Keep: 0.9, Workers: 1}, tried: map[candidate]bool{}, known: map[tuneKey]tuneRow{}}
		for i := range 3 {
			tu.known[tuneKey{candidate{}, i}] = tuneRow{cost: 1, raw: 1, needed: 100, held: 95}
			tu.known[tuneKey{better, i}] = tuneRow{cost: c.cost, raw: 1, needed: 100, held: 99}
		}
		tu.known[tuneKey{better, 0}] = tuneRow{cost: c.cost, raw: 1, needed: 100, held: c.held}
		if _, whole, err := tu.race(t.Context(), better, candidate{}, []int{0, 1, 2}); err != nil || whole != c.whole {
			t.Errorf("%d %% at a cost of %v: replayed on all sessions %v, %v", c.held, c.cost, whole, err)
		}
	}
}
