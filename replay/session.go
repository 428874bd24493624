package replay

import (
	"encoding/json"
	"time"

	"github.com/agentcompact/compact/message"
)

// A Session is a recorded conversation.
type Session struct {
	Name     string // the name of its file
	Messages []message.Message
	Times    []time.Time     // of Messages, as recorded; the zero time if unknown
	Flaw     error           // the unreadable part of its file; the other part is replayed
	Tools    json.RawMessage // schemas of the tools that each call was sent with; nil = not recorded
}

// Calls returns the indexes of the assistant messages, each of which is one model call.
// A message at index 0 answers nothing and is not a call.
func (s *Session) Calls() []int {
	var at []int
	for i := range s.Messages {
		if s.Messages[i].Role == message.RoleAssistant && i > 0 {
			at = append(at, i)
		}
	}
	return at
}
