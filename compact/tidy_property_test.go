package compact_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
)

// The general promises also hold with results that are reduced on arrival.
func TestPropertyRandomHistoriesTidied(t *testing.T) {
	n := samples.Of(30)
	switch {
	case soak():
		n = 5_000
	case testing.Short():
		n = 12
	}
	reduced, compactions := 0, 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 11))
		cost, err := token.NewEstimator(propertyModel, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := compact.Preset("graduated")
		c.Model, c.MaxContextTokens, c.Archive = propertyModel, []int{4_500, 8_000, 16_000}[rng.IntN(3)], memory.New()
		c.Policy.Stages = append([]string{"tidy"}, c.Policy.Stages...)
		c.Tidy.LargeTokens, c.Tidy.Wait = 100, time.Hour
		s := newSessionOf(t, c, cost, seed%2 == 1)
		every := 5 + rng.IntN(20)
		s.chain(histgen.New(seed), 1+rng.IntN(6),
			func(h []message.Message) []message.Message { return histgen.Grow(h, rng) },
			func(turn int) bool { return turn%every == every-1 })
		s.report(fmt.Sprintf("seed %d, window %d, kept %v", seed, c.MaxContextTokens, s.kept))
		reduced, compactions = reduced+s.reduced, compactions+s.compacts
		s.close()
		if t.Failed() {
			break
		}
	}
	if reduced == 0 {
		t.Error("nothing was reduced")
	}
	t.Logf("%d histories, %d compactions, reducers at work %d times", n, compactions, reduced)
}
