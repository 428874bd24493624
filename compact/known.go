package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/redact"
)

// secrets is what redacts everything of a session: a secret that one message
// gives away is found in the others too.
type secrets struct {
	*redact.Session
	learned map[message.Fingerprint]struct{} // messages that were searched; the session's mutex guards it
}

// maxLearned bounds the messages that are known to have been searched. Beyond
// it they are searched again.
const maxLearned = 1 << 17

// study searches the messages that were not searched before, so that what any
// of them gives away is known when the first of them is written.
func (s *session) study(history []message.Message) {
	var line []byte
	for i := range history {
		if s.fresh(history[i].Fingerprint()) {
			line = openai.AppendMessage(line[:0], history[i])
			s.redactor.Learn(line) // which keeps nothing of it
		}
	}
}

func (s *session) fresh(fp message.Fingerprint) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, done := s.redactor.learned[fp]; done {
		return false
	}
	if len(s.redactor.learned) >= maxLearned || s.redactor.learned == nil {
		s.redactor.learned = map[message.Fingerprint]struct{}{}
	}
	s.redactor.learned[fp] = struct{}{}
	return true
}

// redactJSON redacts what this call says, with what its session knows.
func (c *call) redactJSON(raw []byte) redact.Text {
	if c.s == nil {
		return c.m.redactor.JSON(raw)
	}
	return c.s.redactor.JSON(raw)
}
