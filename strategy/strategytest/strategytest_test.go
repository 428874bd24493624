package strategytest

import (
	"testing"

	"github.com/agentcompact/compact/strategy"
)

func TestBuiltInStrategies(t *testing.T) {
	for _, name := range strategy.Names() {
		s, err := strategy.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { Run(t, s) })
	}
}

func own(extract func(h *strategy.History) []strategy.Line) strategy.Strategy {
	return strategy.Strategy{
		Name: "orders", Sections: []strategy.Section{{Title: "Orders"}}, Instructions: "Write what was ordered.",
		Examples: []strategy.Example{{History: "[s1] user: a pizza", Summary: "## Orders\n- a pizza"}}, Extract: extract,
	}
}

func orders(h *strategy.History) (lines []strategy.Line) {
	for _, s := range h.Steps {
		if s.Text != "" {
			lines = append(lines, strategy.Line{Text: s.Text, Value: 0.5, Order: s.ID})
		}
	}
	return lines
}

func TestOwnStrategy(t *testing.T) { Run(t, own(orders)) }

// The subtest of each promise catches a strategy that breaks the promise.
func TestSuiteCatchesBrokenPromises(t *testing.T) {
	n := 0
	strange := own(orders)
	strange.Examples[0].Summary = "## Wishes\n- a pizza"
	for promise, s := range map[string]strategy.Strategy{
		"ExtractsTheSame": own(func(h *strategy.History) []strategy.Line {
			n++
			return orders(h)[:n%2]
		}),
		"LeavesTheHistory": own(func(h *strategy.History) []strategy.Line {
			h.Steps[0].Text = "changed"
			return nil
		}),
		"LinesFit":             own(func(*strategy.History) []strategy.Line { return []strategy.Line{{Section: 7, Text: "x"}} }),
		"WritesWithoutAModel":  own(func(*strategy.History) []strategy.Line { panic("a fault") }),
		"ExamplesAreOfItsForm": strange,
	} {
		ready, err := strategy.New(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.name == promise && guarded(c.check, ready) == nil {
				t.Errorf("%s: a strategy that breaks the promise is not caught", promise)
			}
		}
	}
}
