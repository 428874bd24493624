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

// shelfWeight is what is kept of a message besides its texts.
const shelfWeight = 256

// weight is about what the shelf costs in memory. Where the lane remembers the
// same history its texts are counted twice: rather too much.
func (s *shelf) weight() int64 {
	if s == nil {
		return 0
	}
	return weigh(s.history) + shelfWeight*int64(len(s.history)+len(s.stored.lines))
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
