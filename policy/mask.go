package policy

import (
	"context"
	"slices"

	"github.com/agentcompact/compact/message"
)

// Mask replaces old observations by a placeholder that says how large they
// were. Calls, arguments and ids stay. Assistant and user messages are never
// masked, nor is anything of the open round.
type Mask struct {
	WindowTurns  int      // the results of the last turns that stay; default 10, at least the keep counts
	KeepFirst    int      // the first results of the history that stay; default 2
	KeepLast     int      // the last results of the history that stay; default 0
	ExcludeTools []string // tools whose results stay
	MaxChars     int      // 0: the placeholder alone; else the result keeps its beginning, and is at most that long, placeholder included
	Form         string   // default FormObservation
	Every        int      // the window slides by so many turns at once; 0 and 1: with every turn
	Turns        int      // exactly the results of the last so many turns stay, whatever the keep counts; 0: as above
	MinTokens    int      // a mask that saves less is not made; 0: every one that saves anything

	// Messages, where it is not 0, keeps the results of the last so many
	// messages instead of those of turns and pairs; rounds stay whole.
	Messages int
	// Since, where it is not nil, masks from there on alone: all but the first
	// KeepFirst and the last KeepLast of these results, whatever their turn.
	// With 0 and 0 nothing is masked.
	Since Boundary
	// CostAsChars takes for {chars} what a result costs, for presets that
	// count in characters of their own.
	CostAsChars bool
	// BareBlocks lets what is outside of dispatch blocks go without a
	// placeholder where one would not be worth it. Nothing in the view says
	// then that something was there.
	BareBlocks bool
}

// Name returns "mask".
func (Mask) Name() string { return "mask" }

// Propose offers all that may be masked as one group, in one pass.
func (m Mask) Propose(_ context.Context, v *View) (Proposal, error) {
	if m.Since != nil && m.KeepFirst == 0 && m.KeepLast == 0 {
		return Proposal{}, nil
	}
	visible, from := m.visible(v), m.Since.at(v, 0)
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

// visible marks the rounds whose results stay.
func (m Mask) visible(v *View) []bool {
	switch {
	case m.Since != nil:
		return v.tail(0)
	case m.Messages != 0:
		return v.tail(m.Messages)
	}
	return v.recentRounds(Keep{Turns: m.window(v), Pairs: v.Keep.Pairs})
}

// window returns how many of the last turns stay visible: at least what is
// asked for, and more while a batch is not full.
func (m Mask) window(v *View) int {
	if m.Turns > 0 {
		return m.Turns
	}
	turns := max(m.WindowTurns, v.Keep.Turns)
	if old := len(v.Turns) - turns; m.Every > 1 && old > 0 {
		turns += old % m.Every
	}
	return turns
}

// excluded returns what says whether a result is of an excluded tool.
func (m Mask) excluded(v *View) func(i int, p *message.Part) bool {
	if len(m.ExcludeTools) == 0 {
		return func(int, *message.Part) bool { return false }
	}
	return func(i int, p *message.Part) bool { return slices.Contains(m.ExcludeTools, v.tools().of(i, p)) }
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
