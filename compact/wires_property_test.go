package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/invariant"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

// wireOutcome is the outcome of a conversation on one wire.
type wireOutcome struct {
	res   *compact.Result
	err   error
	floor int
}

// onEachWire judges one conversation on the four wires, with one model's tokens
// and without the overhead of a wire.
func onEachWire(t *testing.T, label string, c compact.Config, seed uint64, history []message.Message) map[provider.Wire]wireOutcome {
	t.Helper()
	cost, err := token.NewEstimator(propertyModel, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[provider.Wire]wireOutcome{}
	for w := range wires {
		m, err := compact.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		req := onWire(t, w, seed, history)
		res, err := m.Preflight(context.Background(), "s", req.Messages(), compact.WithRequest(req),
			compact.WithModel(propertyModel), compact.WithTools(json.RawMessage(`[]`)), compact.WithMaxOutput(1))
		fixed := cost.Reply() + cost.Tools(json.RawMessage(`[]`))
		plan := planOf(c)
		out[w] = wireOutcome{res, err, plan.Floor(req.Messages(), pinnedByRole, cost.Message, fixed)}
		var b *compact.BudgetError
		if errors.As(err, &b) {
			r := invariant.Refusal{In: req.Messages(), Out: res.Messages, Pinned: pinnedByRole, Cost: cost.Message, Fixed: fixed, Budget: res.Budget, Tokens: b.Tokens, Plan: plan}
			r.Named, r.Parts = namedBy(b)
			for _, v := range invariant.CheckRefusal(r) {
				t.Errorf("%s, %s: %s: %v; %q", label, w, v, err, res.Warnings)
			}
		} else if err != nil {
			t.Errorf("%s, %s: %v", label, w, err)
		}
		_ = m.Close(context.Background())
	}
	return out
}

// One conversation, written in four wires, gives the same decision and the same error
// on each. The numbers may differ, because each wire frames its messages in its own
// way.
func TestPropertyFourWiresDecideAlike(t *testing.T) {
	n := 12
	switch {
	case soak():
		n = 4_000
	case samples.All() && !testing.Short():
		n = 100
	}
	refused, compacted, differ := 0, 0, 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 17))
		shape := histgen.Shape{Rounds: 6 + rng.IntN(40), OneUser: rng.IntN(2) == 0, Preamble: 1, Tools: 0.3 + 0.7*rng.Float64(), Parallel: 1, Words: 20 + rng.IntN(120), Huge: 0.05, HugeWords: 1_500, Wire: 1, Ends: histgen.End(rng.IntN(2))}
		history := shape.History(rng)
		history = append(history, message.User("Go on with it."))
		c, _ := compact.Preset(oneOf(rng, "graduated", "summarize", "gateway", "history-reducer", "graduated"))
		if c.Preset == "graduated" && rng.IntN(2) == 0 {
			c.Policy.Stages = oneOf(rng, []string{"fallback", "squeeze"}, []string{"drop", "squeeze"}, []string{"drop"}, []string{"mask", "summarize"}, []string{"local", "fallback", "squeeze"})
			c.Policy.KeepRecentMessages = 4
		}
		c.Counting, c.Model, c.MaxOutputTokens, c.MaxContextTokens = "model", propertyModel, 0, 1_800+rng.IntN(8_000)
		if c.Preset == "history-reducer" {
			c.Summarizer.MaxTokens = 400
		}
		c.Storage.Adapter = "memory"
		if rng.IntN(2) == 0 { // where refusals begin
			floor := planOf(c).Floor(history, pinnedByRole, costOf(t, c).Message, 20)
			c.MaxContextTokens = max(c.MaxContextTokens*c.Policy.MarginPct/100+c.Policy.HardCapBuffer+floor+rng.IntN(500)-100, 1_600)
		}
		label := fmt.Sprintf("seed %d, %s %v, window %d", seed, c.Preset, c.Policy.Stages, c.MaxContextTokens)
		got := onEachWire(t, label, c, seed, history)
		chat := got[provider.Chat]
		for w, a := range got {
			above := (a.floor > a.res.Budget) == (chat.floor > chat.res.Budget)
			due := (a.res.Before.Total >= a.res.Trigger) == (chat.res.Before.Total >= chat.res.Trigger)
			if above && (a.err == nil) != (chat.err == nil) && !planOf(c).Bounded() {
				t.Errorf("%s: %s says %v (%q), chat says %v (%q)", label, w, a.err, a.res.Warnings, chat.err, chat.res.Warnings)
			}
			if due && a.err == nil && chat.err == nil && a.res.Triggered != chat.res.Triggered {
				t.Errorf("%s: %s triggered %v (%s, %d of %d, %q), chat %v (%s, %d)", label, w, a.res.Triggered, a.res.Reason, a.res.Before.Total, a.res.Trigger, a.res.Warnings, chat.res.Triggered, chat.res.Reason, chat.res.Before.Total)
			}
			if a.err == nil && a.res.After.Total > a.res.Budget {
				t.Errorf("%s: %s: %d of %d tokens", label, w, a.res.After.Total, a.res.Budget)
			}
			if !above || !due {
				differ++
			}
		}
		if chat.err != nil {
			refused++
		} else if chat.res.Triggered {
			compacted++
		}
		if t.Failed() && !soak() {
			break
		}
	}
	t.Logf("%d conversations in 4 wires: %d compacted, %d refused, %d times the numbers differ", n, compacted, refused, differ)
}
