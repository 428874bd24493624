package replay

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/price"
)

// Short sessions do not count, and neither do sessions in which the window forced a
// compaction. A policy that never compacts for its cost has no such figure.
func TestWorstSessionWithoutForcedCompactions(t *testing.T) {
	row := func(calls, compactions, paying int, cost float64) *Row {
		return &Row{Policy: "p", Calls: calls, Compactions: compactions, Paying: paying, Cost: cost, RawCost: 1}
	}
	all := []*Row{row(20, 2, 1, 1.3), row(20, 3, 3, 1.01), row(20, 0, 0, 0.9), row(8, 1, 1, 1.5)}
	got := total(all)
	if got.Worst != 1.3 || got.WorstByWill != 1.01 {
		t.Errorf("worst %v, worst without a forced compaction %v", got.Worst, got.WorstByWill)
	}
	if got = total([]*Row{row(20, 2, 0, 1.3)}); got.Worst != 1.3 || got.WorstByWill != 0 {
		t.Errorf("no compaction pays: worst %v, worst without a forced compaction %v", got.Worst, got.WorstByWill)
	}
}

func TestReplayReportsCompactionsForcedByTheWindow(t *testing.T) {
	card, _ := price.For("claude-sonnet-4-5")
	rep := run(t, Options{Policies: []Policy{preset(t, "economy"), preset(t, "graduated")}, Windows: []int{200_000, 12_000}, Card: card}, session("a", 120))
	for _, r := range rep.Rows {
		chosen := r.Policy == "economy"
		if r.Compactions == 0 && (chosen || r.Window == 12_000) || (r.Paying > 0) != (chosen && r.Window == 200_000) {
			t.Errorf("%s at %d: %d compactions, %d because they pay", r.Policy, r.Window, r.Compactions, r.Paying)
		}
	}
	var b strings.Builder
	if err := rep.Write(&b); err != nil {
		t.Fatal(err)
	}
	if said := strings.Count(b.String(), "where the window forced no compaction"); said != 1 {
		t.Errorf("reported %d times:\n%s", said, b.String())
	}
}
