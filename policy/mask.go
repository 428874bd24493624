package policy

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/message"
)

// Mask replaces old tool results by placeholders that state their size. Calls,
// arguments and ids stay. Mask never changes assistant and user messages, or
// anything in the open round.
type Mask struct {
	WindowTurns  int      // number of last turns whose results stay; at least the turns of the view's Keep
	KeepFirst    int      // number of first results in the history that stay
	KeepLast     int      // number of last results in the history that stay
	ExcludeTools []string // tools whose results stay
	MaxChars     int      // if not 0, the result keeps its beginning; the largest length of beginning and placeholder together, in characters
	Form         string   // default "observation@1"
	Every        int      // number of turns by which the window moves at once; 0 and 1 = it moves every turn
	Turns        int      // if not 0, replaces WindowTurns and the turns of the view's Keep; the pairs of that Keep still apply
	MinTokens    int      // smallest saving in tokens for which a result is masked; 0 = any saving

	// Recent, if not nil, marks the rounds with results that stay. Turns and pairs have no
	// effect then. The open round always stays.
	Recent func(v *View) []bool
	// Since, if not nil, returns the index of the first message to mask. From there on,
	// Mask masks the results of all turns, except the first KeepFirst and the last
	// KeepLast results. If both are 0, nothing is masked.
	Since func(v *View) int
	// CostAsChars puts the cost of a result into {chars}, for presets that
	// count characters in their own unit.
	CostAsChars bool
	// BareBlocks removes the text outside dispatch blocks without a placeholder if
	// the version with a placeholder would not save enough. The view then does not
	// show that something was removed.
	BareBlocks bool
}

// Name returns "mask".
func (Mask) Name() string { return "mask" }

// Propose offers all masks in one group.
func (m Mask) Propose(_ context.Context, v *View) (Proposal, error) {
	if m.Since != nil && m.KeepFirst == 0 && m.KeepLast == 0 {
		return Proposal{}, nil
	}
	visible, from := m.visible(v), m.from(v)
	results, seen := countResults(v.Messages[from:]), 0
	excluded := m.excluded(v)
	var group []Edit
	for i := from; i < len(v.Messages); i++ {
		msg := &v.Messages[i]
		for p := range msg.Parts {
			if msg.Parts[p].Kind != message.KindToolResult {
				continue
			}
			seen++
			if seen <= m.KeepFirst || seen > results-m.KeepLast || visible[v.round[i]] || v.Pinned[i] || !msg.Editable(p) || excluded(i, &msg.Parts[p]) {
				continue
			}
			if e, ok := m.edit(v, i, p); ok {
				group = append(group, e)
			}
		}
	}
	if len(group) == 0 {
		return Proposal{}, nil
	}
	return Proposal{Groups: [][]Edit{group}}, nil
}

// from returns the index of the first message that may be masked.
func (m Mask) from(v *View) int {
	if m.Since == nil {
		return 0
	}
	return min(max(m.Since(v), 0), len(v.Messages))
}

// visible marks the rounds whose results stay.
func (m Mask) visible(v *View) []bool {
	switch {
	case m.Since != nil:
		return v.recentRounds(Keep{})
	case m.Recent != nil:
		stays := v.recentRounds(Keep{})
		for r, recent := range m.Recent(v) {
			stays[r] = stays[r] || recent
		}
		return stays
	}
	return v.recentRounds(Keep{Turns: m.window(v), Pairs: v.Keep.Pairs})
}

// window returns the number of last turns whose results stay: at least the
// configured number, and more until a batch is full.
func (m Mask) window(v *View) int {
	if m.Turns > 0 {
		return m.Turns
	}
	turns := max(m.WindowTurns, v.Keep.Turns)
	if old := len(v.Turns) - turns; m.Every > 0 && old > 0 {
		turns += old % m.Every
	}
	return turns
}

// excluded returns a function that reports whether a result comes from an
// excluded tool.
func (m Mask) excluded(v *View) func(i int, p *message.Part) bool {
	if len(m.ExcludeTools) == 0 {
		return func(int, *message.Part) bool { return false }
	}
	return func(i int, p *message.Part) bool { return slices.Contains(m.ExcludeTools, v.tools().Name(i, p)) }
}

func countResults(msgs []message.Message) int {
	n := 0
	for i := range msgs {
		for p := range msgs[i].Parts {
			if msgs[i].Parts[p].Kind == message.KindToolResult {
				n++
			}
		}
	}
	return n
}
