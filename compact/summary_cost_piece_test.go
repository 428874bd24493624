package compact

import (
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/price"
)

// A request without a usage is priced by the tokens that were sent. If a summary is
// made in pieces, that is one piece.
func TestAPieceOfASummaryCostsItsShare(t *testing.T) {
	card, _ := price.For("claude-sonnet-4-5")
	w := &writing{card: card, whole: 7000}
	for name, c := range map[string]struct {
		call summarize.CallInfo
		want price.Usage
	}{
		"one request":         {summarize.CallInfo{Backend: "openai", InputTokens: 8000, SummaryTokens: 100}, price.Usage{Fresh: 8000, Output: 100}},
		"a piece of four":     {summarize.CallInfo{Backend: "openai", InputTokens: 8000, Pieces: 4, SummaryTokens: 100}, price.Usage{Fresh: 2000, Output: 100}},
		"the agent's model":   {summarize.CallInfo{Backend: backendAgent, InputTokens: 8000, SummaryTokens: 100}, price.Usage{Fresh: 7000, Output: 100}},
		"no model is written": {summarize.CallInfo{Backend: summarize.BackendExtractive, InputTokens: 8000}, price.Usage{}},
	} {
		c.call.Model = "claude-sonnet-4-5"
		if got := w.costOf(c.call); got.usd != card.Cost(c.want) || got.estimated != got.usd {
			t.Errorf("%s: %+v, want %v", name, got, card.Cost(c.want))
		}
	}
}
