package compact_test

import (
	"context"
	"testing"

	"github.com/agentcompact/compact/compact"
)

// A manager with other settings repeats the edits of the first one, and reports
// it.
func TestResultNamesStepsOfOtherSettings(t *testing.T) {
	first := newRig(t, compact.Config{MaxContextTokens: 8000})
	history := loop(30, 400)
	if res := first.preflight(history); res.Step != 1 || len(res.Earlier) != 0 {
		t.Fatalf("step %d, earlier %v, want 1", res.Step, res.Earlier)
	}
	if res := first.preflight(history); res.Replayed == 0 || len(res.Earlier) != 0 {
		t.Errorf("the first manager repeats its own edits (%d): earlier %v", res.Replayed, res.Earlier)
	}
	want := compact.Earlier{Steps: 1, Last: 1, Preset: "graduated", Strategy: "task_state", Window: 8000}
	strategy, err := compact.Preset("")
	if err != nil {
		t.Fatal(err)
	}
	strategy.Policy.Strategy = "decision_log"
	strategy.MaxContextTokens = 8000
	for name, c := range map[string]compact.Config{
		"window":   {MaxContextTokens: 9000},
		"preset":   {MaxContextTokens: 8000, Preset: "summarize"},
		"strategy": strategy,
	} {
		c.Archive = first.archive
		res := newRig(t, c).preflight(history)
		if len(res.Earlier) != 1 || res.Earlier[0] != want {
			t.Errorf("another %s: earlier %+v, want %+v", name, res.Earlier, want)
		}
	}
	same := newRig(t, compact.Config{MaxContextTokens: 8000, Archive: first.archive})
	if res := same.preflight(history); res.Replayed == 0 || len(res.Earlier) != 0 {
		t.Errorf("the same settings in another process: %d edits, earlier %v", res.Replayed, res.Earlier)
	}
}

// A step without a summary has no strategy.
func TestMaskStepsHaveNoStrategy(t *testing.T) {
	c, err := compact.Preset("")
	if err != nil {
		t.Fatal(err)
	}
	c.MaxContextTokens, c.Policy.Stages = 8000, []string{"mask", "squeeze"}
	first := newRig(t, c)
	if res := first.preflight(loop(30, 400)); res.MaskedCount == 0 {
		t.Fatalf("nothing was masked: %s", res.Reason)
	}
	c.Policy.Strategy, c.Archive = "decision_log", first.archive
	second := newRig(t, c)
	if res := second.preflight(loop(30, 400)); res.Replayed == 0 || len(res.Earlier) != 0 {
		t.Errorf("%d edits, earlier %+v", res.Replayed, res.Earlier)
	}
}

// Steps with the same settings are one entry. A result lists only steps of its own
// history.
func TestEarlierCountsStepsOfOneSetting(t *testing.T) {
	first := newRig(t, compact.Config{MaxContextTokens: 8000})
	history := loop(30, 400)
	for len(history) < 220 {
		first.preflight(history)
		history = append(history, loop(6, 400)[2:]...)
	}
	other := newRig(t, compact.Config{MaxContextTokens: 9000, Archive: first.archive})
	res := other.preflight(history)
	if len(res.Earlier) != 1 || res.Earlier[0].Steps < 2 || res.Earlier[0].Last < res.Earlier[0].Steps {
		t.Errorf("earlier %+v", res.Earlier)
	}
	if res, err := other.Preflight(context.Background(), "another", history); err != nil || len(res.Earlier) != 0 {
		t.Errorf("another session: %v, %v", res.Earlier, err)
	}
}

// If a history grows into the view of a step within one process, it is recognized as the
// step's outcome.
func TestViewThatComesBackInPiecesIsRecognized(t *testing.T) {
	first := newRig(t, compact.Config{MaxContextTokens: 8000})
	view := first.preflight(loop(30, 400)).Messages
	second := newRig(t, compact.Config{MaxContextTokens: 9000, Archive: first.archive})
	if res := second.preflight(view[:2]); len(res.Earlier) != 0 {
		t.Errorf("2 of %d messages: earlier %+v", len(view), res.Earlier)
	}
	if res := second.preflight(view); len(res.Earlier) != 1 || res.Replayed != 0 {
		t.Errorf("the whole view: earlier %+v, %d edits", res.Earlier, res.Replayed)
	}
}
