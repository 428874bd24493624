package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/price"
)

func tuned(t *testing.T, sessions []*Session, o TuneOptions) *Tuning {
	t.Helper()
	o.Card, _ = price.For("claude-sonnet-4-5")
	o.Gap = time.Second
	found, err := Tune(t.Context(), sessions, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// projects returns sessions of a given number of projects, two sessions for each.
func projects(n int) []*Session {
	var all []*Session
	for i := range n {
		for k := range 2 {
			all = append(all, session(fmt.Sprintf("logs/p%d-%d.jsonl", i, k), 20+3*i+k))
		}
	}
	return all
}

func TestTuneFindsCheaperSettingsThatKeepTheShare(t *testing.T) {
	o := TuneOptions{Keep: 0.3, Window: 4000, Evaluations: 8, Folds: 2, Seed: 3}
	found := tuned(t, shortProjects(2), o)
	if !found.Met || found.Chosen.Held.Value < 0.3 || found.Chosen.Over != 0 || found.Chosen.OfRaw.Value > found.Default.OfRaw.Value {
		t.Errorf("chosen %+v, the preset %+v", found.Chosen, found.Default)
	}
	if found.Tried > 8 || found.Tried < 3 || found.Folds != 2 || found.Projects != 2 || found.Expected.OfRaw.Value == 0 {
		t.Errorf("tried %d, %d folds of %d projects, expected %+v", found.Tried, found.Folds, found.Projects, found.Expected)
	}
	text, err := found.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"preset: graduated\n", "policy:\n  trigger_pct: ", "mask:\n  window_turns: ", "# Expected, on projects that the choice has not seen (2 folds): costs ", "# The preset graduated on them: "} {
		if !strings.Contains(text, want) {
			t.Errorf("the file lacks %q:\n%s", want, text)
		}
	}
	again, err := tuned(t, shortProjects(2), o).YAML()
	if err != nil || again != text {
		t.Errorf("the same sessions and seed give another file: %s", cmp.Diff(text, again))
	}
}

func TestTuneReportsTooFewSessions(t *testing.T) {
	found := tuned(t, projects(1), TuneOptions{Keep: 0.999, Window: 2000, Evaluations: 2})
	if found.Met || found.Folds != 0 || len(found.TooFew) < 2 {
		t.Errorf("met %v, folds %d, doubts %q", found.Met, found.Folds, found.TooFew)
	}
	text, err := found.YAML()
	if err != nil || !strings.Contains(text, "# None of them keeps that much") || !strings.Contains(text, "# Too few sessions to tell: 2 sessions") || strings.Contains(text, "# Expected") {
		t.Errorf("%v:\n%s", err, text)
	}
}

// every returns all candidates.
func every() []candidate {
	all := []candidate{{}}
	for i, k := range knobs {
		for _, c := range all {
			for v := 1; v < len(k.values); v++ {
				c[i] = v
				all = append(all, c)
			}
		}
	}
	return all
}

// With known costs and shares of settings, the search comes near the best one. It never
// prefers a setting that keeps too little or does not fit.
func TestSearchFindsTheCheapestSettingThatKeepsEnough(t *testing.T) {
	const needed, seeds = 1000, 10
	reached := 0.0 // share of the possible savings
	for seed := range uint64(seeds) {
		tu := &tuner{o: &TuneOptions{Keep: 0.9, Seed: seed, Workers: 1, Evaluations: 60}, tried: map[candidate]bool{}, known: map[tuneKey]tuneRow{}}
		best, preset := 1.0, 0.0
		for _, k := range every() {
			row := tuneRow{raw: 1, needed: needed, cost: 0.9, held: 960}
			for i := range k { // later values are cheaper, and keep less
				row.cost -= 0.02 * float64(k[i]*(i+1)) / 3
				row.held -= 4 * k[i] * (8 - i) / 2
			}
			if k[0] == len(knobs[0].values)-1 {
				row.cost, row.over = 0, 1
			}
			if row.held >= 900 && row.over == 0 {
				best = min(best, row.cost)
			}
			if k == (candidate{}) {
				preset = row.cost
			}
			tu.known[tuneKey{k, 0}] = row
		}
		tu.share(1)
		found, err := tu.search(t.Context(), []int{0}, 1)
		if err != nil {
			t.Fatal(err)
		}
		row := tu.known[tuneKey{found, 0}]
		reached += (preset - row.cost) / (preset - best) / seeds
		if row.held < 900 || row.over > 0 || row.cost > preset-0.4*(preset-best) {
			t.Errorf("seed %d: %v costs %.3f and keeps %d; the best costs %.3f, the preset %.3f", seed, found, row.cost, row.held, best, preset)
		}
		if len(tu.tried) > 60 {
			t.Errorf("seed %d: %d settings were tried of 60", seed, len(tu.tried))
		}
	}
	if reached < 0.75 {
		t.Errorf("with 60 settings the search reaches %.2f of the possible savings", reached)
	}
}

// A session is never judged by settings that it had a part in choosing.
func TestFoldsKeepProjectsTogether(t *testing.T) {
	sessions := projects(5)
	n, f := foldsOf(sessions, 3)
	if n != 5 || f.count != 3 {
		t.Fatalf("%d projects, %d folds", n, f.count)
	}
	of := map[string]int{}
	for i, s := range sessions {
		p := Project(s.Name)
		if was, known := of[p]; known && was != f.fold[i] {
			t.Errorf("%s is in folds %d and %d", p, was, f.fold[i])
		}
		of[p] = f.fold[i]
	}
	for k := range f.count {
		all := inTurn(sessions)
		if len(f.of(k, all)) == 0 || len(f.of(k, all))+len(f.without(k, all)) != len(sessions) {
			t.Errorf("fold %d has %d of %d sessions", k, len(f.of(k, all)), len(sessions))
		}
	}
}

func TestProjectIsTheNameUpToItsLastDash(t *testing.T) {
	for name, want := range map[string]string{
		"logs/agent-shop-7f3a.jsonl.gz": "agent-shop", "shop/a.jsonl": "shop", "a.jsonl": ".", "x/-1.jsonl": "x",
	} {
		if got := Project(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}

// Every setting that a search draws is a valid configuration.
func TestEveryCandidateIsValid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var k candidate
	for range 300 {
		c, err := k.config()
		if err == nil {
			err = c.Validate()
		}
		if err != nil {
			t.Fatalf("%v: %v", k, err)
		}
		next := k.near(rng)
		if next == k {
			t.Fatalf("the neighbor of %v is the same setting", k)
		}
		if k = next; rng.IntN(4) == 0 {
			k = k.random(rng)
		}
	}
}

func TestTuneEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Tune(ctx, projects(1), TuneOptions{Window: 4000}); err == nil {
		t.Error("Tune continued after its context was canceled")
	}
	if _, err := Tune(t.Context(), nil, TuneOptions{}); err == nil {
		t.Error("Tune without sessions returns no error")
	}
}

// If the best value is the last one tried, the file reports that.
func TestTheFileNamesSettingsAtTheEdge(t *testing.T) {
	for _, c := range []struct {
		k    candidate
		want string
	}{
		{candidate{}, ""},
		{candidate{5, 0, 1, 0, 0, 1, 0}, "# At the edge of the search, so values beyond it may be better: policy.trigger_pct, policy.keep_recent_turns.\n"},
	} {
		text, err := (&Tuning{best: c.k}).YAML()
		if err != nil || strings.Contains(text, "At the edge") != (c.want != "") || !strings.Contains(text, c.want) {
			t.Errorf("%v, want %q in\n%s", err, c.want, text)
		}
	}
}
