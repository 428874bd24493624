package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// Mask replaces old observations by a placeholder that says how large they
// were. Calls, arguments and ids stay. Assistant and user messages are never
// masked.
type Mask struct {
	WindowTurns  int      // the results of the last turns that stay; default 10, at least the keep counts
	KeepFirst    int      // the first results of the history that stay; default 2
	KeepLast     int      // the last results of the history that stay; default 0
	ExcludeTools []string // tools whose results stay
	MaxChars     int      // 0: the placeholder alone; else the result keeps its beginning, and is at most that long, placeholder included
	Form         string   // default FormObservation
	Every        int      // the window slides by so many turns at once; 0 and 1: with every turn
}

// Name returns "mask".
func (Mask) Name() string { return "mask" }

// Propose offers all that may be masked as one group, in one pass.
func (m Mask) Propose(_ context.Context, v *View) (Proposal, error) {
	visible := v.recentRounds(Keep{Turns: m.window(v), Pairs: v.Keep.Pairs})
	results, seen := countResults(v), 0
	var names map[string]string
	var group []Edit
	for i := range v.Messages {
		msg := &v.Messages[i]
		for p := range msg.Parts {
			if msg.Parts[p].Kind != message.KindToolResult {
				continue
			}
			seen++
			if seen <= m.KeepFirst || seen > results-m.KeepLast || visible[v.round[i]] || v.Pinned[i] || !msg.Editable(p) {
				continue
			}
			if names == nil && len(m.ExcludeTools) > 0 {
				names = toolNames(v.Messages)
			}
			if tool := names[msg.Parts[p].CallID]; slices.Contains(m.ExcludeTools, tool) && tool != "" {
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

// window returns how many of the last turns stay visible: at least what is
// asked for, and more while a batch is not full.
func (m Mask) window(v *View) int {
	turns := max(m.WindowTurns, v.Keep.Turns)
	if old := len(v.Turns) - turns; m.Every > 1 && old > 0 {
		turns += old % m.Every
	}
	return turns
}

func countResults(v *View) int {
	n := 0
	for i := range v.Messages {
		for p := range v.Messages[i].Parts {
			if v.Messages[i].Parts[p].Kind == message.KindToolResult {
				n++
			}
		}
	}
	return n
}

// edit masks one result, or reports false: it is masked already, or would not
// get smaller.
func (m Mask) edit(v *View, i, p int) (Edit, bool) {
	if v.Masked(i, p) {
		return Edit{}, false
	}
	o := v.Origin(i, p)
	form := m.Form
	if form == "" {
		form = FormObservation
	}
	text := v.Messages[i].Parts[p].Text
	mark := Mark{Form: form, Chars: o.Chars, Tokens: max(o.Tokens, 0), Ref: o.Ref, Turn: v.TurnOf(i)}
	if t, err := v.Forms.Template(form); err == nil && strings.Contains(t, "{tokens}") {
		mark.Tokens = v.OriginTokens(i, p)
	}
	segments := m.segments(v, text, mark)
	e := Edit{Decision: Masked, Reason: "observation outside of the window", Text: &TextEdit{Index: i, Part: p, Segments: segments}}
	return e, shrinks(v, i, p, segments)
}

func (m Mask) segments(v *View, text string, mark Mark) []Segment {
	if blocks, outside := dispatchBlocks(text); len(blocks) > 0 {
		mark.Form, mark.Chars = FormDispatch, outside
		segments := []Segment{{Mark: &mark}}
		for i, b := range blocks {
			if i > 0 {
				segments = append(segments, Segment{Lit: "\n"})
			}
			segments = append(segments, b)
		}
		return segments
	}
	placeholder, err := v.Forms.Render(mark, "", "")
	room := m.MaxChars - runes(placeholder) - 1
	if err != nil || m.MaxChars == 0 || room <= 0 {
		return []Segment{{Mark: &mark}}
	}
	return []Segment{{To: runePrefix(text, room)}, {Lit: "\n"}, {Mark: &mark}}
}

func runePrefix(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

const (
	dispatchBegin = "BEGIN_DISPATCH_RESULT"
	dispatchEnd   = "END_DISPATCH_RESULT"
)

// dispatchBlocks finds the blocks that survive masking, and counts the
// characters outside of them.
func dispatchBlocks(text string) (blocks []Segment, outside int) {
	at := 0
	for {
		begin := strings.Index(text[at:], dispatchBegin)
		if begin < 0 {
			break
		}
		begin += at
		end := strings.Index(text[begin+len(dispatchBegin):], dispatchEnd)
		if end < 0 {
			break
		}
		end += begin + len(dispatchBegin) + len(dispatchEnd)
		outside += runes(text[at:begin])
		blocks = append(blocks, Segment{From: begin, To: end})
		at = end
	}
	return blocks, outside + runes(text[at:])
}

// shrinks reports whether rewriting part p of message i makes the message
// smaller in tokens and no larger in characters.
func shrinks(v *View, i, p int, segments []Segment) bool {
	c := Conversation{forms: v.Forms}
	old := v.Messages[i].Parts[p]
	text, err := c.render(old, segments, nil)
	if err != nil || len(text) > len(old.Text) && runes(text) > runes(old.Text) {
		return false
	}
	m, err := v.Messages[i].WithPartText(p, text)
	return err == nil && v.Cost.Message(m) < v.Tokens[i]
}
