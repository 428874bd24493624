package message

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// server joins messages to one round if they belong to a tool call that the provider itself runs
// (Anthropic's server_tool_use). The result of such a call is usually in the same message. But a
// program that the provider runs can call the client's tools. Then the result is in a later message
// of the assistant, and the provider refuses each of these messages without the others.
type server struct {
	open []string // ids of the calls without a result
	from int      // index of the message with the last of them, which is in the round of the others
}

// continues reports whether message i belongs to the round of the open calls. A call that
// the user interrupts never gets a result.
func (s *server) continues(m *Message) bool {
	if m.Role != RoleAssistant && m.Role != RoleTool {
		s.open = nil
	}
	return len(s.open) > 0
}

// add records the calls and the results of the provider's tools in message i.
func (s *server) add(i int, m *Message) {
	if m.Role != RoleAssistant {
		return
	}
	for k := range m.Parts {
		id, result := ServerCall(&m.Parts[k])
		switch {
		case id == "":
		case result:
			s.open = slices.DeleteFunc(s.open, func(o string) bool { return o == id })
		default:
			s.open, s.from = append(s.open, id), i
		}
	}
}

// ServerCall returns the id of a tool call that the provider itself runs. p is either that call or,
// if result is true, its result. For any other part, id is empty.
func ServerCall(p *Part) (id string, result bool) {
	if p.Kind != KindOther || p.CallID != "" {
		return "", false
	}
	field := "id"
	switch {
	case p.Name == "server_tool_use", p.Name == "mcp_tool_use":
	case strings.HasSuffix(p.Name, "_tool_result"):
		field, result = "tool_use_id", true
	default:
		return "", false
	}
	_ = jsonscan.Object(p.Args, jsonscan.Span{End: len(p.Args)}, func(m jsonscan.Member) error {
		if m.Key == field {
			id, _ = jsonscan.Unquote(m.Value.Of(p.Args)) // not a string: no id
		}
		return nil
	})
	return id, result
}
