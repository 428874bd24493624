package tidy

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/garble"
	share "github.com/agentcompact/compact/internal/samples"
)

// TestDamagedResultsKeepThePromises joins and damages results of all kinds, as answers to
// all calls.
func TestDamagedResultsKeepThePromises(t *testing.T) {
	seeds := slices.DeleteFunc(garble.Literals(t), func(s string) bool { return len(s) < 60 })
	for _, s := range samples {
		for n := 300; n < 10_000; n *= 2 {
			seeds = append(seeds, s.make(n))
		}
	}
	k := 0
	garble.Each(t, seeds, share.Of(12_000), 1, func(text string) {
		k++
		s := samples[k%len(samples)]
		r := &Result{Text: text, Call: s.call, Tokens: len(text) / 4, Said: []string{seeds[k%len(seeds)]}}
		for _, o := range []Options{only(s.name), {Large: 100}} {
			o.Large = 100
			if broken := holds(r, o); broken != "" {
				t.Errorf("%s: %q: %s", s.name, text, broken)
			}
		}
	})
}
