package compact

import (
	"cmp"
	"slices"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/toolcall"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// takenRows is the number of messages that an event lists one by one.
const takenRows = 20

// rows lists the messages whose change or removal freed most tokens, at most
// takenRows, and sums up the others by role, tool and decision. It allocates for
// the changed messages, not for the history.
func (c *call) rows(out *reduce.Outcome) (rows []trace.TakenRow, rest []trace.TakenSum) {
	costs, answers, touched := c.costs(), 0, c.touched(out)
	for i := range c.history {
		m := &c.history[i]
		if m.Role == message.RoleAssistant {
			answers++
		}
		if len(touched) == 0 || touched[0] != i {
			continue
		}
		touched = touched[1:]
		is, _ := out.Conversation.Decision(i)
		turn := answers // an assistant message or one of its results
		if m.Role != message.RoleAssistant && !m.Has(message.KindToolResult) || turn == 0 {
			turn++
		}
		rows = append(rows, trace.TakenRow{
			Index: i, Turn: turn, Role: string(m.Role), Tool: toolOf(c.history, i), Became: is.String(), In: costs[i], Ref: c.s.ref(m.Fingerprint()),
		})
	}
	addTokens(rows, c.now.conv, c.view().Tokens, func(r *trace.TakenRow) *int { return &r.Tokens })
	addTokens(rows, out.Conversation, out.View.Tokens, func(r *trace.TakenRow) *int { return &r.Left })
	slices.SortStableFunc(rows, func(a, b trace.TakenRow) int { return cmp.Compare(b.Tokens-b.Left, a.Tokens-a.Left) })
	if len(rows) <= takenRows {
		return rows, nil
	}
	return rows[:takenRows], sumRows(rows[takenRows:])
}

// addTokens adds to each row the tokens that its message has in a view. The rows
// must have the order of the history.
func addTokens(rows []trace.TakenRow, conv *reduce.Conversation, tokens []int, to func(*trace.TakenRow) *int) {
	for k := range conv.Len() {
		src := conv.Source(k)
		if len(rows) == 0 || src < rows[0].Index || src > rows[len(rows)-1].Index {
			continue
		}
		at, found := slices.BinarySearchFunc(rows, src, func(r trace.TakenRow, src int) int { return cmp.Compare(r.Index, src) })
		if src >= 0 && found {
			*to(&rows[at]) += tokens[k]
		}
	}
}

// sumRows sums up rows. The rows that freed most tokens come first.
func sumRows(rows []trace.TakenRow) []trace.TakenSum {
	type key struct{ role, tool, became string }
	by := map[key]*trace.TakenSum{}
	var order []*trace.TakenSum
	for _, r := range rows {
		k := key{r.Role, r.Tool, r.Became}
		sum := by[k]
		if sum == nil {
			sum = &trace.TakenSum{Role: r.Role, Tool: r.Tool, Became: r.Became}
			by[k], order = sum, append(order, sum)
		}
		sum.Messages++
		sum.In += r.In
		sum.Tokens += r.Tokens
		sum.Left += r.Left
	}
	slices.SortStableFunc(order, func(a, b *trace.TakenSum) int { return cmp.Compare(b.Tokens-b.Left, a.Tokens-a.Left) })
	out := make([]trace.TakenSum, len(order))
	for i, sum := range order {
		out[i] = *sum
	}
	return out
}

// toolOf returns the tool of the result in message i, or the first tool that it
// calls.
func toolOf(history []message.Message, i int) string {
	for p := range history[i].Parts {
		switch part := &history[i].Parts[p]; part.Kind {
		case message.KindToolResult:
			return toolcall.Tool(history, i, p)
		case message.KindToolCall:
			return part.Name
		}
	}
	return ""
}

// deedsOf compares an outcome with the conversation before it.
func (c *call) deedsOf(out *reduce.Outcome) *deeds {
	d := &deeds{kept: kept(out.View)}
	for _, i := range c.touched(out) {
		switch is, _ := out.Conversation.Decision(i); is {
		case policy.Truncated:
			d.truncated++
		case policy.Masked:
			d.masked++
		case policy.Summarized:
			d.summarized++
		case policy.Dropped:
			d.dropped++
		}
	}
	return d
}

// touched returns the input messages that the run edited or removed, in order. The
// decision on a message with several results stays the same if another of them is
// edited.
func (c *call) touched(out *reduce.Outcome) []int {
	at := c.changed(out)
	for i := range out.Passes {
		p := &out.Passes[i]
		if p.Applied == 0 || p.Recipe.Cut != nil {
			continue
		}
		for _, src := range p.Sources {
			if src >= 0 {
				at = append(at, src)
			}
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}
