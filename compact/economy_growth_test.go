package compact

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/memory"
)

// A view for which an offer had no effect is checked again when it has grown, or after
// another compaction, for example by another process, or for another model.
func TestFailedOffersCountForOneCompaction(t *testing.T) {
	history := []message.Message{message.System("You fix bugs."), message.User("Fix it.")}
	for i := range 60 {
		id := fmt.Sprint("call_", i)
		history = append(history, message.Assistant("", message.Call(id, "read", fmt.Sprintf(`{"n":%d}`, i))), message.ToolResult(id, fmt.Sprint(i, strings.Repeat(" word", 900))))
	}
	for name, c := range map[string]struct {
		of   uselessOffer
		want bool
	}{
		"none":                     {uselessOffer{}, true},
		"of this view":             {uselessOffer{upTo: 1 << 30}, false},
		"of another compaction":    {uselessOffer{upTo: 1 << 30, after: reduce.Link{N: 3}}, true},
		"of another model":         {uselessOffer{ep: &epoch{}, upTo: 1 << 30}, true},
		"of a view that has grown": {uselessOffer{upTo: 1}, true},
	} {
		config, err := Preset("economy")
		if err != nil {
			t.Fatal(err)
		}
		config.Model, config.MaxContextTokens, config.Archive = "claude-sonnet-4-5", 200_000, memory.New()
		m, err := New(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := m.Preflight(t.Context(), "s", history[:4]); err != nil || res.Triggered {
			t.Fatalf("%s: the first call: %v", name, err)
		}
		for _, ep := range m.epochs {
			c.of.ep = cmp.Or(c.of.ep, ep)
		}
		m.sessions["s"].lanes[ledger.Owner{}].account.fruitless = c.of
		res, err := m.Preflight(t.Context(), "s", history)
		if err != nil || res.Triggered != c.want || res.Before.Total > 150_000 {
			t.Errorf("%s: triggered %v (%s), %d tokens, %v; want %v, at most 150000 and no error", name, res.Triggered, res.Reason, res.Before.Total, err, c.want)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestGrowthIsTheMeanOfTheLastCalls(t *testing.T) {
	msgs := []message.Message{message.User("first prompt")}
	for range 30 {
		msgs = append(msgs, message.Assistant("", message.Call("a", "bash", "{}")), message.ToolResult("a", "done"))
	}
	costs := make([]int, len(msgs))
	for i := range costs {
		costs[i] = 10
	}
	costs[0] = 100_000
	if g := growthOf(msgs, costs, 20); g != 20 {
		t.Errorf("%v tokens per call, want 20", g)
	}
	if g := growthOf(nil, nil, 20); g != 1 {
		t.Errorf("%v tokens a call of nothing, want 1", g)
	}
}

// The cost of the calls so far includes the answers.
func TestCostSoFarIncludesTheAnswers(t *testing.T) {
	ep := &epoch{card: price.Card{Input: 3, CacheRead: 0.3, CacheWrite: 3, Output: 15, MinPrefix: 1024, Granularity: 1}}
	c := &call{ep: ep, asker: asker{history: []message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("d"), message.User("e")}}}
	c.fixed = 100
	c.now.seen = &viewCache{ep: ep, costs: []int{4000, 500, 300, 700, 200}}
	// The first prompt has 100 + 4000 tokens, the second 4900, of which 4100 are in the cache.
	want := (4100*3 + 500*15 + 800*3 + 4100*0.3 + 700*15) / 1e6
	if usd := c.soFar(); math.Abs(usd-want) > 1e-9 {
		t.Errorf("$%f, want $%f", usd, want)
	}
}

// The engine of an offer runs the stages that the offer consists of, with its numbers of turns,
// down to its level.
func TestEngineOfAnOfferHasItsTurns(t *testing.T) {
	summaries, err := summarize.NewStage(summarize.Writer{})
	if err != nil {
		t.Fatal(err)
	}
	e := &reduce.Engine{Steps: []reduce.Step{
		{Stage: policy.Media{}}, {Stage: policy.Mask{WindowTurns: 10}}, {Stage: summaries}, {Stage: policy.Media{Deep: true}}, {Stage: policy.Squeeze{}},
	}}
	keep := policy.Keep{Turns: 6, Pairs: 2}
	for name, c := range map[string]struct {
		offer policy.Offer
		want  []string
	}{
		"masks":          {policy.Offer{Keep: keep}, []string{"media 6", "mask 6"}},
		"a cut":          {policy.Offer{Keep: keep, Cut: true}, []string{"summarize"}},
		"a cut and mask": {policy.Offer{Keep: keep, Cut: true, Mask: 3}, []string{"media 3", "mask 3", "summarize"}},
	} {
		var got []string
		n := narrowed(e, c.offer)
		for _, s := range n.Steps {
			what := s.Stage.Name()
			switch stage := s.Stage.(type) {
			case policy.Mask:
				what = fmt.Sprint(what, " ", stage.Turns)
			case policy.Media:
				what = fmt.Sprint(what, " ", stage.Turns)
			}
			if got = append(got, what); s.Goal != policy.All {
				t.Errorf("%s: %s has a goal of its own", name, what)
			}
		}
		if !slices.Equal(got, c.want) || n.Keep != keep {
			t.Errorf("%s: %v, keeping %+v; want %v", name, got, n.Keep, c.want)
		}
	}
}
