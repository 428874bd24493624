package token

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// A Breakdown splits the tokens of a request. System, Developer, ToolsSchema and
// Messages add up to the total. The tokens that prime the reply are part of
// Messages, under the role assistant.
type Breakdown struct {
	System      int `json:"system"`
	Developer   int `json:"developer"`
	ToolsSchema int `json:"tools_schema"`
	Messages    int `json:"messages"`

	// ByRole splits Messages by role.
	ByRole map[string]int `json:"by_role,omitempty"`
	// ByTool is the cost of the calls and results of each tool, without the
	// overhead of their messages. Results without a tool name and without a call
	// in the request count under "unknown".
	ByTool map[string]int `json:"by_tool,omitempty"`
	// Mix is the whole request by kind of text, for a [Calibrator].
	Mix Mix `json:"-"`
}

// Total returns the cost of the whole request.
func (b Breakdown) Total() int { return b.System + b.Developer + b.ToolsSchema + b.Messages }

// Breakdown counts a request. It stops between two messages when ctx is done and
// returns the error of ctx. progress, which may be nil, is called after each
// message.
func (e *Estimator) Breakdown(ctx context.Context, msgs []message.Message, tools []byte, progress Progress) (Breakdown, error) {
	b := Breakdown{ByRole: map[string]int{}, ByTool: map[string]int{}, ToolsSchema: e.Tools(tools)}
	calls := map[string]string{}
	for i := range msgs {
		if err := ctx.Err(); err != nil {
			return Breakdown{}, err
		}
		b.add(e, &msgs[i], calls)
		if progress != nil {
			progress(i+1, len(msgs))
		}
	}
	b.Mix.Code += b.ToolsSchema
	if reply := e.Reply(); reply > 0 {
		b.Mix.Fixed += reply
		b.Messages += reply
		b.ByRole[string(message.RoleAssistant)] += reply
	}
	return b, nil
}

func (b *Breakdown) add(e *Estimator, m *message.Message, calls map[string]string) {
	p := e.price(m)
	b.Mix = b.Mix.Plus(p.Mix)
	switch n := p.Total(); m.Role {
	case message.RoleSystem:
		b.System += n
	case message.RoleDeveloper:
		b.Developer += n
	default:
		b.Messages += n
		b.ByRole[string(m.Role)] += n
	}
	for i, tool := 0, 0; tool < len(p.tools); i++ {
		if name, ok := toolName(&m.Parts[i], calls); ok {
			b.ByTool[name] += p.tools[tool]
			tool++
		}
	}
}

// toolName returns the tool of a call or a result. It stores the names of calls
// in calls, for later results.
func toolName(p *message.Part, calls map[string]string) (name string, ok bool) {
	switch name = p.Name; p.Kind {
	case message.KindToolCall:
		calls[p.CallID] = name
	case message.KindToolResult:
		if name == "" {
			name = calls[p.CallID]
		}
	default:
		return "", false
	}
	if name == "" {
		name = "unknown"
	}
	return name, true
}
