package compact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// A view for which an offer had no effect is checked again when it has grown, or after
// another compaction, for example by another process.
func TestFailedOffersCountForOneCompaction(t *testing.T) {
	history := []message.Message{message.System("You fix bugs."), message.User("Fix it.")}
	for i := range 60 {
		id := fmt.Sprint("call_", i)
		history = append(history, message.Assistant("", message.Call(id, "read", fmt.Sprintf(`{"n":%d}`, i))), message.ToolResult(id, fmt.Sprint(i, strings.Repeat(" word", 900))))
	}
	for name, c := range map[string]struct {
		of   fruitless
		want bool
	}{
		"none":                     {fruitless{}, true},
		"of this view":             {fruitless{upTo: 1 << 30}, false},
		"of another compaction":    {fruitless{1 << 30, reduce.Link{N: 3}}, true},
		"of a view that has grown": {fruitless{upTo: 1}, true},
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
		m.sessions["s"].lanes[ledger.Owner{}].account.fruitless = c.of
		res, err := m.Preflight(t.Context(), "s", history)
		if err != nil || res.Triggered != c.want || res.Before.Total > 150_000 {
			t.Errorf("%s: triggered %v (%s), %d tokens, %v", name, res.Triggered, res.Reason, res.Before.Total, err)
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
		t.Errorf("%v tokens a call, want 20", g)
	}
	if g := growthOf(nil, nil, 20); g != 1 {
		t.Errorf("%v tokens a call of nothing, want 1", g)
	}
}
