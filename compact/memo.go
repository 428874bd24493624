package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// memo spares a lane the replay of a history that it saw a moment ago and that
// has only grown since. It changes no outcome: what it holds is what a replay
// of the ledger gives.
type memo struct {
	history []message.Message
	steps   int // of the session when it was made
	now     replayed
}

func (l *lane) replay(s *session, history []message.Message, of owner, pins policy.Pins, forms policy.Forms) replayed {
	steps := len(s.snapshot())
	if r, ok := l.memo.extended(history, steps); ok {
		if s.hasOrigins() {
			r.conv.Recognise(s.known)
		}
		l.memo = memo{history: append([]message.Message(nil), history...), steps: steps, now: r}
		return r
	}
	r := s.replay(history, of, pins, forms, nil)
	l.memo = memo{history: append([]message.Message(nil), history...), steps: steps, now: r}
	return r
}

// extended returns the outcome for a history that begins with the one that is
// remembered, byte for byte, and has not grown to where another step begins.
func (m *memo) extended(history []message.Message, steps int) (replayed, bool) {
	grown := len(history) - len(m.history)
	if m.now.conv == nil || m.steps != steps || grown < 0 || grown > m.now.room {
		return replayed{}, false
	}
	for i := range m.history {
		if !message.Identical(m.history[i], history[i]) {
			return replayed{}, false
		}
	}
	r := m.now
	r.room -= grown
	n := r.conv.Len()
	r.conv = r.conv.Append(history[len(m.history):])
	r.chain = r.conv.ExtendChain(r.chain, n)
	return r, true
}
