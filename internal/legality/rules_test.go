package legality

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
)

// distinctRows returns a session with different rules after user messages and
// results. In half of these sessions the user speaks once, and the agent
// continues alone.
func distinctRows(rng *rand.Rand, rules int) []render.Row {
	rows := []render.Row{{"role": "system", "content": "You fix bugs."}}
	said, often := 0, 1+rng.IntN(4)
	rule := func() {
		if said < rules && rng.IntN(often) == 0 {
			said++
			rows = append(rows, render.Row{"role": "system", "content": fmt.Sprintf("Rule %d. %s", said, strings.Repeat("Look before you leap. ", 1+rng.IntN(20)))})
		}
	}
	once := rng.IntN(2) == 0
	for i := range 36 {
		if i == 0 || !once {
			rows = append(rows, render.Row{"role": "user", "content": fmt.Sprintf("Request %d: %s", i, strings.Repeat("make it pass ", rng.IntN(30)))})
			rule()
		}
		for k := range 1 + rng.IntN(3) {
			id := fmt.Sprintf("call_%d_%d", i, k)
			rows = append(rows,
				render.Row{"role": "assistant", "content": "I look.", "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": "{}"}}}},
				render.Row{"role": "tool", "tool_call_id": id, "content": strings.Repeat("a line of it\n", 1+rng.IntN(60))})
			rule()
		}
		if !once {
			rows = append(rows, render.Row{"role": "assistant", "content": fmt.Sprintf("Answer %d: %s", i, strings.Repeat("it is so ", rng.IntN(40)))})
		}
	}
	if rng.IntN(2) == 0 {
		rows = append(rows, render.Row{"role": "user", "content": "Go on."})
	}
	return rows
}

// Rules that are all different and all stay leave a legal view on each wire: a call is
// refused only if the messages that must stay do not fit.
func TestPropertyDifferentRulesOnEachWire(t *testing.T) {
	n := 12
	if soak() {
		n = 2_000
	}
	total, all := totals{}, map[provider.Wire]*tally{}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 31))
		w, window := provider.Wires()[seed%4], 2_000+1_000*rng.IntN(5)
		c := newChain(t, fmt.Sprint("seed ", seed), w, window)
		c.run(render.New(w, seed, distinctRows(rng, 1+rng.IntN(12))), seed/4%2 == 1)
		c.close()
		total.add(w, window, c.tally)
		if all[w] == nil {
			all[w] = &tally{}
		}
		all[w].add(c.tally)
	}
	t.Logf("%d histories:%s", n, table(total))
	for _, w := range provider.Wires() {
		t.Logf("%s: %d of %d calls refused, each because of messages that must stay", w, all[w][insufficient], all[w][called])
		if all[w][compactions] < 10 {
			t.Errorf("%s: %d compactions: the test proves nothing", w, all[w][compactions])
		}
	}
}

// This also holds for stages that only remove, in windows that just fit the messages
// that must stay. If no user message is left at the front, a notice is required; with
// room for the notice no wire refuses.
func TestPropertyDifferentRulesWithRemovingStages(t *testing.T) {
	n := samples.Of(2)
	if soak() {
		n = 400
	}
	const notice = 16 // tokens, at most
	calls, refused := map[provider.Wire]int{}, map[provider.Wire]int{}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 37))
		rows := distinctRows(rng, 1+rng.IntN(12))
		for _, stages := range [][]string{{"groups"}, {"fallback"}, {"drop"}, {"fallback", "squeeze"}, {"local", "fallback"}} {
			for _, w := range provider.Wires() {
				s := render.New(w, seed, rows)
				cuts := s.Cuts()
				body := s.Body(cuts[len(cuts)-1-rng.IntN(5)])
				for _, above := range []int{1, notice} {
					c, err := compact.Preset("graduated")
					if err != nil {
						t.Fatal(err)
					}
					c.Model, c.Policy.Stages, c.Policy.KeepRecentMessages, c.Storage.Adapter = "gpt-4o", stages, 4, "memory"
					c.MaxContextTokens, c.Policy.HardCapBuffer = 1<<20, 0
					c.MaxContextTokens = once(t, "", w, c, body).floor + above
					label := fmt.Sprintf("seed %d, %v, %s, %d above the floor", seed, stages, w, above)
					o := once(t, label, w, c, body)
					if calls[w]++; o.err == nil {
						continue
					}
					if refused[w]++; above == notice {
						t.Errorf("%s: %v; %q", label, o.err, o.res.Warnings)
					}
				}
			}
		}
	}
	t.Logf("calls in windows that just hold the messages that must stay: %v; refused, because a notice in front is missing: %v", calls, refused)
}
