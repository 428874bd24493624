package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/record"
)

// shelf is a stored transcript without a step. A call that could not wait for its summary
// stores the shelf for the next attempt. The lane's lock guards it.
type shelf struct {
	history []message.Message
	stored  stored
	written record.Written
}

// shelfWeight is the memory of a message besides its texts, in bytes.
const shelfWeight = 256

// weight returns the approximate memory of the shelf in bytes. If the lane
// holds the same history, its texts are counted twice.
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
