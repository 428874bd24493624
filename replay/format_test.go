package replay

import (
	"testing"

	"github.com/agentcompact/compact/price"
)

// The words of tables and pages are right at each of their limits.
func TestNumbersInTables(t *testing.T) {
	share := func(v, low, high float64) *Interval { return &Interval{v, low, high} }
	told := func(wrong, stated int) *Total { return &Total{Kept: Kept{Told: Told{False: wrong, Stated: stated}}} }
	for _, c := range []struct{ name, got, want string }{
		{"few tokens", kilo(99_949), "99.9"}, {"many tokens", kilo(100_500), "101"}, {"millions", kilo(1_234_567), "1,235"},
		{"no share", (*Interval)(nil).short(), "–"}, {"a share", share(0.956, 0, 0).short(), "96%"},
		{"no interval", share(0.5, 0.5, 0.5).Span(), ""}, {"an interval", share(0.5, 0.25, 0.75).Span(), "(25.0–75.0)"},
		{"not shown", shown(nil), "–"}, {"shown", shown(share(0.5, 0.5, 0.5)), "50.0 %"}, {"shown with its interval", shown(share(0.5, 0.4, 0.6)), "50.0 % (40.0–60.0)"},
		{"nothing stated", told(0, 0).falseTold(), "–"}, {"nothing false", told(0, 3).falseTold(), "0/3"}, {"false", told(2, 3).falseTold(), "2/3"},
		{"nothing needed", (&Total{}).needed(), "–"}, {"needed", (&Total{Held: Interval{Value: 0.954}, Kept: Kept{Needed: 9}}).needed(), "95.4%"},
		{"no worst", (&Total{}).worst(), "–"}, {"the worst", (&Total{Worst: 1.12}).worst(), "112%"},
		{"a policy", (&Total{Policy: "p"}).mark(), "p"}, {"a reference", (&Total{Policy: "p", Reference: true, Over: 2}).mark(), "p *"},
		{"above the window", (&Total{Policy: "p", Over: 1}).mark(), "p †"}, {"refused", (&Total{Policy: "p", Refused: 1}).mark(), "p †"},
		{"calls", AtLeast{Calls: 1}.String(), "1 call"}, {"tokens", AtLeast{Tokens: 60_000}.String(), "60,000 tokens"}, {"both", AtLeast{60_000, 15}.String(), "60,000 tokens and 15 calls"},
		{"the youngest", aged(0, 0), "0-1"}, {"a class of age", aged(2, 6), "6-11"}, {"the oldest", aged(5, 48), "48+"},
		{"uses", density(Standing{Tokens: 2_000_000, Used: 3}), "2"}, {"of no token", density(Standing{}), "0"},
		{"an exact model", countedBy("gpt-4o"), "gpt-4o"},
		{"no folder", commonFolder(nil), ""}, {"one folder", commonFolder([]string{"/a/b/c.x", "/a/b/d.x"}), "/a/b/"}, {"a folder above", commonFolder([]string{"/a/b/c.x", "/a/b/e/d.x"}), "/a/b/"},
		{"nothing in common", commonFolder([]string{"/a/b/c.x", "/e/d.x"}), ""}, {"an own card", (&Report{Card: price.Card{Source: "me"}}).cardName(), "a card of your own (me)"},
		{"ratios", (&Report{Card: price.Card{Model: "m", Relative: true}}).cardName(), "m, ratios only"}, {"a card", (&Report{Card: price.Card{Model: "m", Source: "s", Date: "d"}}).cardName(), "m (s, d)"},
		{"a card without a source", (&Report{Card: price.Card{Model: "m"}}).cardName(), "m"},
		{"a formula", cell("=1+1"), "'=1+1"}, {"a name", cell("a=1"), "a=1"}, {"an empty cell", cell(""), ""},
		{"no money", usd(0), "$0.00"}, {"little money", usd(0.0999), "$0.0999"}, {"money", usd(0.1), "$0.10"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// Identifiers have a form by which losses are counted.
func TestFormsOfIdentifiers(t *testing.T) {
	for id, want := range map[string]string{
		"https://h/a": "URL", "src/a.go": "path", "1,234": "number", "10.0.0.1:80": "number", "3f9a2c1b77de": "hash", "3f9a2c": "name", "main.go": "name", "fooBar": "name", "deadbeef": "hash",
	} {
		if got := idForm(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

// A policy is beaten by another that is better in one respect and not worse in the other.
func TestBeatenPolicies(t *testing.T) {
	of := func(cost, held float64) Total {
		return Total{OfRaw: Interval{Value: cost}, Held: Interval{Value: held}}
	}
	list := []Total{of(0.5, 0.9), of(0.4, 0.8), of(0.5, 0.8), of(0.4, 0.8), of(0.6, 0.9)}
	for i, want := range []bool{false, false, true, false, true} {
		if isDominated(&list[i], list) != want {
			t.Errorf("policy %d: %v", i, !want)
		}
	}
	for name, c := range map[string]struct {
		front []Total
		want  int
	}{
		"the cheapest that keeps enough": {[]Total{of(0.5, 0.99), of(0.4, 0.95), of(0.3, 0.94)}, 1}, "the one that keeps most": {[]Total{of(0.3, 0.5), of(0.5, 0.9), of(0.4, 0.8)}, 1},
	} {
		var front []*Total
		for i := range c.front {
			front = append(front, &c.front[i])
		}
		if take, _ := choose(front); take != front[c.want] {
			t.Errorf("%s: %+v", name, take)
		}
	}
	own := []Total{{Policy: "raw", Reference: true}, {Policy: "over", Over: 1}, {Policy: "refused", Refused: 1}, {Policy: "sound"}}
	if got := sound(own); len(got) != 1 || got[0].Policy != "sound" {
		t.Errorf("%+v", got)
	}
	if got := sound(own[:3]); len(got) != 2 {
		t.Errorf("without a sound one: %+v", got)
	}
}
