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
	Times    []time.Time     // of Messages, as they were recorded; the zero time where that is not known
	Flaw     error           // what of its file could not be read; the rest is replayed
	Tools    json.RawMessage // the schemas that each call was sent with; nil = not recorded
}

// Calls returns the indices of the assistant messages that answer something:
// each is one model call.
func (s *Session) Calls() []int {
	var at []int
	for i := range s.Messages {
		if s.Messages[i].Role == message.RoleAssistant && i > 0 {
			at = append(at, i)
		}
	}
	return at
}
