package compact

import (
	"sync/atomic"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
)

// lane is one agent's branch of a session. A call holds its lock until it ends,
// so that calls of one agent run one after the other and each sees the earlier
// decisions.
type lane struct {
	mu   ctxlock.Mutex
	memo memo
	// flights holds the summary that is being written for the lane, if any.
	flights summarize.Flights
	writes  atomic.Pointer[writing] // of flights; nil = there was no flight
	shelf   *shelf
	filed   atomic.Pointer[filed] // place of its last transcript in the archive; nil = unknown
	sent    sentWhole
	ahead   *ahead   // compaction for which a summary is prepared; nil = none, or the history no longer continues the old one
	reading *reading // originals that are read for a prepared summary; nil = none
	lost    int      // prepared summaries since the last step that became useless because the history changed
	// explained is set after the wait above the trigger was explained.
	explained bool
	tooLarge  bool    // set after a body that is too large was reported
	account   account // costs of its calls
	strands   strands

	users   int    // running and waiting calls, and background work; the session's mutex guards this field and the next four
	used    uint64 // end of the last call, in calls of the session
	weight  int64  // approximate memory for its history, in bytes
	weighed int    // number of messages in it
	aside   int64  // memory in bytes of an unused summary, its originals, and known transcripts
}

// maxLanes limits the lanes of a session in memory. A session can have very
// many, for example one for each conversation of a user. A lane that was
// removed is rebuilt from the ledger.
const maxLanes = 64

// lane returns the lane of an owner, which stays in memory until leave.
func (s *session) lane(of ledger.Owner) *lane {
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

// leave ends the use of a lane by a call with this history, if any. If there are too
// many lanes, it removes the lane that was idle for longest, and returns that lane.
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
	var idle ledger.Owner
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
