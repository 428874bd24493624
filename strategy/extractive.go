package strategy

import (
	"context"
)

// Extractive is the summariser that needs no model: the strategy's extractor
// over the messages. It is deterministic, touches no network and is safe for
// concurrent use.
type Extractive struct{}

var (
	_ Summarizer = Extractive{}
	_ Describer  = Extractive{}
)

// BackendExtractive is the name of [Extractive] in reports and events.
const BackendExtractive = "extractive"

// Describe returns the name; any amount of input is taken at once.
func (Extractive) Describe() Info { return Info{Name: BackendExtractive} }

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

// compose lets the strategy extract and chooses from what it offers.
func (h *History) compose(r Request) Document {
	c := newComposer(r.Strategy, h.Index, r.MaxTokens, r.Count)
	c.central = centralOf(h.Index, h.Previous, r.MaxTokens, r.Count)
	lines := append(c.centralLines(h.changed()), h.carried()...)
	if r.Strategy.Extract != nil {
		lines = append(lines, r.Strategy.Extract(h)...)
	}
	return c.compose(lines)
}

// carried offers the lines of the summary before again: the first lines of a
// section are worth most, since they have been carried longest. Lists of
// identifiers and items with a status are not among them: the index and
// [History.Items] hold those.
func (h *History) carried() []Line {
	var out []Line
	offer := func(section int, lines []string) {
		n := 0
		for _, l := range lines {
			if _, _, item := statusOf(l); !item && !listing(l) {
				value := max(1.2-0.12*float64(n), 0.3)
				if section == 0 && n == 0 {
					value = taskValue
				}
				out = append(out, Line{Section: section, Text: l, Value: value, Order: -1})
				n++
			}
		}
	}
	offer(0, h.Previous.Notes)
	for i, lines := range h.Previous.Sections {
		offer(i, lines)
	}
	return out
}
