package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
)

// shelf is a transcript in the archive that no step stands on yet: a call that
// could not wait for its summary has left it, and its retry needs no other one.
// The lane's lock guards it.
type shelf struct {
	history []message.Message
	stored  stored
	written storage.Written
}

func (s *shelf) holds(history []message.Message) bool {
	if s == nil || len(s.history) != len(history) {
		return false
	}
	for i := range history {
		if !message.Identical(s.history[i], history[i]) {
			return false
		}
	}
	return true
}

// clear forgets what no retry is to be expected for.
func (l *lane) clear() {
	if !l.flights.Waiting() {
		l.shelf = nil
	}
}
