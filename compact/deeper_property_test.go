package compact_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
)

// Random sessions grow between two calls by more than the distance from target to
// trigger. Compactions still do not directly follow each other. The last turn, the last
// call and two more steps must fit below the trigger, because these messages always
// stay. So a step is at most a third of that size, or a quarter if turn and call are
// different.
func TestPropertyCompactionsDoNotFollowOneAnother(t *testing.T) {
	n := samples.Of(6)
	switch {
	case soak():
		n = 300
	case testing.Short():
		n = 2
	}
	for _, kind := range []struct {
		name  string
		most  int // tokens of a step; target and trigger are 5,000 apart
		calls float64
	}{{"answers", 5_500, 0}, {"calls", 5_500, 1}, {"both", 5_200, 0.5}} {
		t.Run(kind.name, func(t *testing.T) {
			all, consecutive := 0, 0
			for seed := range uint64(n) {
				a, c := leaping(t, seed, 5_050, kind.most, kind.calls)
				all, consecutive = all+a, consecutive+c
			}
			t.Logf("%d sessions, %d compactions, %d of them directly after another (%.1f %%)", n, all, consecutive, 100*float64(consecutive)/float64(max(all, 1)))
			if all < n || consecutive*20 > all {
				t.Errorf("%d of %d compactions directly after another", consecutive, all)
			}
		})
	}
}

// leaping makes the calls of a session, and counts its compactions and how many of them
// directly followed another. Compactions up to the second do not count, because the
// growth of the session is only known from one call to the next.
func leaping(t *testing.T, seed uint64, least, most int, calls float64) (all, consecutive int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 37))
	c, _ := compact.Preset("graduated")
	c.MaxContextTokens = 20_000 // triggers at 17,000, and aims for 12,000
	c.Policy.KeepRecentTurns, c.Policy.KeepToolIOPairs = 1+rng.IntN(6), 1+rng.IntN(4)
	r := newRig(t, c)
	history, last := []message.Message{message.System("Be brief."), message.User("Go.")}, false
	for i := range 20 {
		history = leaps(rng, history, i, least+rng.IntN(most-least), calls)
		res := r.preflight(history)
		if res.Triggered {
			if all++; last && all > 2 {
				consecutive++
			}
		}
		if last = res.Triggered; seed%2 == 1 {
			history = res.Messages
		}
	}
	return all, consecutive
}

// leaps adds the messages of one call of an agent: an answer with a question, or a call
// with its result, with a given number of tokens.
func leaps(rng *rand.Rand, history []message.Message, i, tokens int, calls float64) []message.Message {
	if rng.Float64() >= calls {
		return append(history, message.Assistant(fmt.Sprintf("Part %d. %s", i, text(tokens))), message.User(fmt.Sprintf("And %d?", i)))
	}
	return append(history, round(i, tokens)...)
}
