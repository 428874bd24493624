package legality

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/invariant"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
)

// loopRows returns an agent loop: one request or several, and the agent's work on
// them.
func loopRows(rng *rand.Rand, users, rounds int) []render.Row {
	rows := []render.Row{{"role": "system", "content": "You fix bugs."}}
	for u := range users {
		rows = append(rows, render.Row{"role": "user", "content": fmt.Sprintf("Request %d: %s", u, strings.Repeat("make it pass ", 1+rng.IntN(20)))})
		for i := range rounds {
			var calls []any
			var results []render.Row
			for k := range 1 + rng.IntN(2) {
				id := fmt.Sprintf("call_%d_%d_%d", u, i, k)
				calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": fmt.Sprintf(`{"path":"f%d.go"}`, i)}})
				results = append(results, render.Row{"role": "tool", "tool_call_id": id, "content": strings.Repeat("func f() error { return nil }\n", 1+rng.IntN(25))})
			}
			rows = append(append(rows, render.Row{"role": "assistant", "content": fmt.Sprintf("Step %d: I look.", i), "tool_calls": calls}), results...)
			if rng.IntN(5) == 0 {
				rows = append(rows, render.Row{"role": "user", "content": "[steering] look at the tests, too"})
			}
		}
		if u < users-1 {
			rows = append(rows, render.Row{"role": "assistant", "content": "Done: " + strings.Repeat("it was the path ", 1+rng.IntN(10))})
		}
	}
	return rows
}

// outcome is the outcome of one call.
type outcome struct {
	err   error
	res   *compact.Result
	floor int // of the configured stages
}

// once makes one call on a wire, with one model's tokens for all wires, and
// judges the sent request.
func once(t *testing.T, label string, w provider.Wire, c compact.Config, body []byte) outcome {
	t.Helper()
	req, err := parse(w, body)
	if err != nil {
		t.Fatal(err)
	}
	cost, err := token.NewEstimator("gpt-4o", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Archive = memory.New()
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	res, err := m.Preflight(context.Background(), "s", req.Messages(), compact.WithRequest(req), compact.WithModel("gpt-4o"), compact.WithMaxOutput(1))
	plan := invariant.Plan{Stages: c.Policy.Stages, KeepTurns: c.Policy.KeepRecentTurns, KeepPairs: c.Policy.KeepToolIOPairs}
	out := outcome{err: err, res: res}
	out.floor = plan.Floor(req.Messages(), pinned, cost.Message, cost.Reply()+cost.Tools(req.About().Tools))
	if err != nil {
		if !errors.Is(err, compact.ErrInsufficientBudget) {
			t.Errorf("%s: %v", label, err)
		}
		return out
	}
	sent, err := req.Write(res.Messages, res.Sources)
	if err != nil {
		t.Errorf("%s: not written: %v", label, err)
		return out
	}
	judge := provider.NewJudge(w)
	judge.Dialects = true
	judge.Issue(body)
	for _, r := range provider.New(judge.Judge(body), judge.Judge(sent)) {
		t.Errorf("%s: %s at %s: %s", label, r.Rule, r.Path, r.Text)
	}
	return out
}

// The stages only remove messages. One conversation is sent on four wires, in windows
// that just fit the messages that must stay, with the same reserve for the answer. If
// the floor fits, the call is refused on no wire.
func TestPropertyRemovingStagesRefuseEquallyOnEachWire(t *testing.T) {
	n := samples.Of(3)
	if soak() {
		n = 400
	}
	calls, cut := 0, 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 31))
		rows := loopRows(rng, 1+rng.IntN(3), 4+rng.IntN(10))
		if rng.IntN(2) == 0 {
			rows = append(rows, render.Row{"role": "assistant", "content": "Done."}, render.Row{"role": "user", "content": "Go on."})
		}
		for _, stages := range [][]string{{"groups"}, {"fallback"}, {"drop"}, {"mask", "groups"}, {"groups", "squeeze"}, {"fallback", "squeeze"}, {"local", "fallback"}} {
			for _, w := range provider.Wires() {
				s := render.New(w, seed, rows)
				cuts := s.Cuts()
				body := s.Body(cuts[len(cuts)-1])
				for _, above := range []int{1, 60} {
					c, err := compact.Preset("graduated")
					if err != nil {
						t.Fatal(err)
					}
					c.Model, c.Policy.Stages, c.Policy.KeepRecentMessages, c.Storage.Adapter = "gpt-4o", stages, 4, "memory"
					c.MaxContextTokens, c.Policy.HardCapBuffer = 1<<20, 0
					floor := once(t, "", w, c, body).floor
					c.MaxContextTokens = floor + above
					label := fmt.Sprintf("seed %d, %v, %s, %d above the floor", seed, stages, w, above)
					o := once(t, label, w, c, body)
					calls++
					if o.res.Triggered {
						cut++
					}
					if o.err != nil {
						t.Errorf("%s: %v; %q", label, o.err, o.res.Warnings)
					}
				}
			}
		}
	}
	t.Logf("%d calls in 4 wires, %d were cut, none was refused", calls, cut)
	if cut < calls/2 {
		t.Error("the test proves nothing")
	}
}
