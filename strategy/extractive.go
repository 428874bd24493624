package strategy

import (
	"context"

	"github.com/agentcompact/compact/internal/material"
)

// Extractive is the summarizer that needs no model. It applies the strategy's extractor to
// the messages. It is deterministic, uses no network and is safe for concurrent use.
type Extractive struct{}

var (
	_ Summarizer = Extractive{}
	_ Describer  = Extractive{}
)

// Describe returns an Info with the name and without a limit on the input.
func (Extractive) Describe() Info { return Info{Name: material.BackendExtractive} }

// Summarize fills the sections of the strategy and its references, within
// r.MaxTokens.
func (Extractive) Summarize(ctx context.Context, r Request) (Draft, error) {
	if err := ctx.Err(); err != nil {
		return Draft{}, err
	}
	h := r.history
	if h == nil {
		h = NewHistory(r)
	}
	d := h.compose(r)
	if d.empty() {
		return Draft{}, &Failure{Reason: ErrEmpty}
	}
	return Draft{Text: d.Render(r.Strategy)}, ctx.Err()
}

// compose extracts lines with the strategy and chooses among them.
func (h *History) compose(r Request) Document {
	c := newComposer(r.Strategy, h, r.MaxTokens, r.Count)
	lines := r.Strategy.Extract(h)
	lines = append(lines, h.commonLines(r.Strategy)...)
	lines = append(lines, h.reliedLines(r.Strategy.seenSection())...)
	lines = append(lines, h.carried(r.Strategy, lines)...)
	return c.compose(lines)
}
