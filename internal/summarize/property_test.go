package summarize

import (
	"context"
	"os"
	"testing"

	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/strategy"
)

// TestPropertyOfTheStageOnRandomHistories checks that a proposal for any history makes the
// view smaller, stays within the limit, and is the same a second time. COMPACT_SOAK=1 runs
// more histories.
func TestPropertyOfTheStageOnRandomHistories(t *testing.T) {
	seeds := uint64(samples.Of(300))
	if os.Getenv("COMPACT_SOAK") != "" {
		seeds = 10_000
	}
	proposed := 0
	for seed := range seeds {
		s, err := strategy.Lookup(strategy.Names()[seed%uint64(len(strategy.Names()))])
		if err != nil {
			t.Fatal(err)
		}
		st := stage(t, Writer{Strategy: s, MaxTokens: 100 + int(seed%7)*200})
		v := view(histgen.New(seed), 200+int(seed%11)*300)
		v.Manual = seed%2 == 0
		p, err := st.Propose(context.Background(), v)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again, err := st.Propose(context.Background(), v)
		if err != nil || len(again.Groups) != len(p.Groups) {
			t.Fatalf("seed %d: the second proposal differs", seed)
		}
		if len(p.Groups) == 0 {
			continue
		}
		proposed++
		cut := p.Groups[0][0].Cut
		freed := 0
		for _, i := range cut.Removed {
			freed += v.Tokens[i]
		}
		if cut.New == nil {
			continue // no room even for a notice
		}
		if cost := v.Cost.Message(*cut.New); cost >= freed {
			t.Errorf("seed %d: %d tokens for %d", seed, cost, freed)
		}
		if (cut.Summary == nil) != (again.Groups[0][0].Cut.Summary == nil) {
			t.Fatalf("seed %d: %+v, then %+v", seed, p.Summary, again.Summary)
		}
		if cut.Summary != nil && (cut.Summary.Tokens > st.w.MaxTokens+freed/2+20 || cut.New.Text() != cut.Summary.Text || again.Groups[0][0].Cut.Summary.Text != cut.Summary.Text) {
			t.Errorf("seed %d: summary of %d tokens, limit %d", seed, cut.Summary.Tokens, st.w.MaxTokens)
		}
		if _, err := reduce.NewConversation(v.Messages, pins, v.Forms).Apply(p.Groups[0]); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	if proposed < int(seeds)/4 {
		t.Errorf("only %d of %d histories had messages to summarize", proposed, seeds)
	}
}
