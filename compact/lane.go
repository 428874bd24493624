package compact

import (
	"sync/atomic"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// lane is one agent's branch of a session. Its lock is held for a whole call: two
// calls of one agent come one after the other, so that the second sees what
// the first decided.
type lane struct {
	mu   ctxlock.Mutex
	memo memo
	// flights is the summary that is being written for it, if any.
	flights strategy.Flights
	shelf   *shelf
	filed   atomic.Pointer[filed] // where the archive has its last transcript; nil = not known here
	sent    sentWhole
	ahead   *ahead   // what the last summary was prepared for; nil = none, or the history went another way
	reading *reading // what a summary that is prepared needs of the archive; nil = nothing was asked for
	lost    int      // summaries since the last step that were prepared of a history that went another way
	// explained remembers that the wait above the trigger was explained.
	explained bool
	tooLarge  bool    // likewise that a body could not be made small enough
	account   account // what its calls have cost

	users   int    // calls that are under way or wait; the session's mutex guards these five
	used    uint64 // when the last one ended, in calls of the session
	weight  int64  // about what is remembered of its history, in bytes
	weighed int    // messages of it
	aside   int64  // what a summary that no view has yet costs, and what is known of transcripts
}

// maxLanes bounds the lanes that a session holds in memory: where the session
// is a user's name, say, and each conversation a branch, there is no end of
// them. What one of them knew is read from the ledger again.
const maxLanes = 64

// lane returns the lane of an owner, which is held until it is left.
func (s *session) lane(of owner) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[of]
	if l == nil {
		l = &lane{}
		s.lanes[of] = l
	}
	l.users++
	return l
}

// leave ends a use of a lane, by a call with this history, if any. When too many are
// held, the one that was idle for longest is forgotten, and returned.
func (s *session) leave(l *lane, history []message.Message) (forgotten *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if history != nil {
		l.weigh(history)
	}
	if l.users--; l.users == 0 {
		l.aside = l.shelf.weight() + l.filed.Load().weight() + l.flights.Weight() + l.reading.weight()
	}
	l.used = s.calls
	if len(s.lanes) <= maxLanes {
		return nil
	}
	var idle owner
	found := false
	for of, other := range s.lanes {
		if other.users == 0 && (!found || other.used < s.lanes[idle].used) {
			idle, found = of, true
		}
	}
	if found {
		forgotten = s.lanes[idle]
		delete(s.lanes, idle)
	}
	return forgotten
}
