package compact

import (
	"cmp"
	"slices"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// takenRows is how many messages an event names one by one.
const takenRows = 20

// rows tells message by message of what a step took out of the view: the
// largest, and the others added up by role, tool and what became of them. It
// allocates for what the step changed, not for the history.
func (c *call) rows(out *policy.Outcome) (rows []trace.TakenRow, rest []trace.TakenSum) {
	costs, answers := c.costs(), 0
	for i := range c.history {
		m := &c.history[i]
		if m.Role == message.RoleAssistant {
			answers++
		}
		was, _ := c.now.conv.Decision(i)
		is, _ := out.Conversation.Decision(i)
		if is == was {
			continue
		}
		turn := answers // an assistant's message, or a result of it
		if m.Role != message.RoleAssistant && !m.Has(message.KindToolResult) || turn == 0 {
			turn++
		}
		rows = append(rows, trace.TakenRow{
			Index: i, Turn: turn, Role: string(m.Role), Tool: toolOf(c.history, i), Became: is.String(), Tokens: costs[i], Ref: c.s.ref(m.Fingerprint()),
		})
	}
	left(rows, out)
	slices.SortStableFunc(rows, func(a, b trace.TakenRow) int { return cmp.Compare(b.Tokens-b.Left, a.Tokens-a.Left) })
	if len(rows) <= takenRows {
		return rows, nil
	}
	return rows[:takenRows], sumRows(rows[takenRows:])
}

// left fills in what rows, in the order of the history, cost in the view.
func left(rows []trace.TakenRow, out *policy.Outcome) {
	for k := range out.Conversation.Len() {
		src := out.Conversation.Source(k)
		if len(rows) == 0 || src < rows[0].Index || src > rows[len(rows)-1].Index {
			continue
		}
		at, found := slices.BinarySearchFunc(rows, src, func(r trace.TakenRow, src int) int { return cmp.Compare(r.Index, src) })
		if src >= 0 && found {
			rows[at].Left += out.View.Tokens[k]
		}
	}
}

// sumRows adds rows up, those that cost most first.
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

// toolOf is the tool whose result message i is, or that it calls first.
func toolOf(history []message.Message, i int) string {
	for p := range history[i].Parts {
		switch part := &history[i].Parts[p]; part.Kind {
		case message.KindToolResult:
			return policy.Tool(history, i, p)
		case message.KindToolCall:
			return part.Name
		}
	}
	return ""
}
