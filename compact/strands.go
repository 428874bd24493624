package compact

import "github.com/agentcompact/compact/message"

// strands remembers the conversations that a lane has seen recently, to detect two
// agents that use one name and take turns.
type strands struct {
	seen   []strand // newest last
	turns  int      // number of times that the lane returned to an earlier conversation
	warned bool
}

// strand identifies a conversation by its length and its last message.
type strand struct {
	n    int
	last message.Fingerprint
}

const (
	mostStrands = 4
	manyTurns   = 3
)

// continuesIn reports whether a history continues this conversation.
func (s strand) continuesIn(history []message.Message) bool {
	return len(history) >= s.n && history[s.n-1].Fingerprint() == s.last
}

// change records that a lane's history does not continue the previous one. An agent that
// rewinds its history keeps most of it.
func (s *strands) change(before, now []message.Message) {
	if s.warned || len(before) == 0 || 2*inCommon(before, now) > min(len(before), len(now)) {
		return
	}
	kept := s.seen[:0]
	for _, known := range s.seen {
		if known.continuesIn(now) && !known.continuesIn(before) {
			s.turns++
		}
		if !known.continuesIn(before) && !known.continuesIn(now) {
			kept = append(kept, known)
		}
	}
	s.seen = append(kept, strand{len(before), before[len(before)-1].Fingerprint()})
	if len(s.seen) > mostStrands {
		s.seen = s.seen[len(s.seen)-mostStrands:]
	}
}
