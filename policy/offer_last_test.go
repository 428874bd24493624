package policy_test

import (
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
)

// An offer of a mask counts only the results that the stage would mask, without the first
// and the last results that its settings keep. Otherwise the engine would compact for
// tokens that stay.
func TestMaskOfferExcludesKeptResults(t *testing.T) {
	v := policy.NewView(loop(20, 300), pins, words{})
	each := 0
	for _, m := range []policy.Mask{{Turns: 2}, {Turns: 2, KeepLast: 8}, {Turns: 2, KeepFirst: 3}, {Turns: 2, KeepFirst: 4, KeepLast: 15}} {
		p, err := m.Propose(t.Context(), v)
		if err != nil || len(p.Groups) != 1 {
			t.Fatal(err)
		}
		o, ok := reduce.OffersOf(v, m).Mask(m.Turns)
		if each == 0 {
			each = o.Gone / len(p.Groups[0])
		}
		if !ok || o.Gone != each*len(p.Groups[0]) {
			t.Errorf("%+v masks %d results, but the offer removes %d tokens", m, len(p.Groups[0]), o.Gone)
		}
	}
}
