package compact

import (
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
)

// secrets is the redactor of a session: a secret that one message reveals is
// also found in the others.
type secrets struct {
	*redact.Session
	learned map[message.Fingerprint]struct{} // messages that were searched; guarded by the session's mutex
}

// maxLearned limits the number of messages remembered as searched. Beyond it,
// messages are searched again.
const maxLearned = 1 << 17

// study searches new messages for secrets, so that all are known before the
// first message is written. It searches them in the form that the archive stores:
// another wire has no place for some of their parts.
func (s *session) study(history []message.Message) {
	var line []byte
	for i := range history {
		if s.fresh(history[i].Fingerprint()) {
			line = ledger.FormatOf(history[i].Wire()).AppendMessage(line[:0], history[i])
			s.redactor.Learn(line) // Learn keeps no reference to line
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

// redactJSON redacts JSON with the secrets that the session knows.
func (c *call) redactJSON(raw []byte) redact.Text {
	if c.s == nil {
		return c.m.redactor.JSON(raw)
	}
	return c.s.redactor.JSON(raw)
}
