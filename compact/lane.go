package compact

import (
	"sync/atomic"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// lane is one agent's branch of a session. A call holds its lock until it ends,
// so that calls of one agent run one after the other and each sees the earlier
// decisions.
type lane struct {
	mu   ctxlock.Mutex
	memo memo
	// flights holds the summary that is being written for the lane, if any.
	flights summarize.Flights
	writes  atomic.Pointer[writing] // describes the summary in flights; nil = there was none
	shelf   *shelf                  // stored transcript for a retry; nil = none
	filed   atomic.Pointer[filed]   // place of its last transcript in the archive; nil = unknown
	sent    wholeResults
	ahead   *expectedCompaction // compaction for which a summary is prepared; nil = none, or the history no longer continues the old one
	reading *reading            // originals that are read for a prepared summary; nil = none
	lost    int                 // number of prepared summaries that a change of the history made useless since the last step
	// explained is set after the wait above the trigger was explained.
	explained bool
	tooLarge  bool    // set after a body that is too large was reported
	account   account // costs of its calls
	strands   strands // conversations seen recently

	users   int    // running and waiting calls, and background work; the session's mutex guards this field and the next four
	used    uint64 // number of the session's calls at the end of the last call
	weight  int64  // approximate memory for its history, in bytes
	weighed int    // number of messages that weight covers
	aside   int64  // memory in bytes of an unused summary, its originals, and known transcripts
}

// expectedCompaction is the expected compaction for which a summary is prepared. The lane's
// lock guards it.
type expectedCompaction struct {
	ep    *epoch
	offer *policy.Offer // offer of the economic trigger; nil = a compaction by the window
	at    int           // size of the view in tokens
}

// wholeResults holds the results that a call sent unreduced, after the last answer. If
// that call got no answer, the next call has the same results, and they must stay
// unchanged. The lane's lock guards it.
type wholeResults struct {
	from    int // index, in the history of that call, of the first message after the last answer
	results map[message.Fingerprint]bool
}

// dropPrepared records that the history does not continue the previous one.
func (l *lane) dropPrepared() {
	if l.ahead != nil && l.flights.Waiting() {
		l.lost++
	}
	l.ahead, l.reading = nil, nil
}

// has reports whether a result was sent whole.
func (s wholeResults) has(m *message.Message) bool {
	return len(s.results) > 0 && s.results[m.Fingerprint()]
}

// weigh updates the memory of a lane's history. It visits only new messages.
func (l *lane) weigh(history []message.Message) {
	if len(history) < l.weighed {
		l.weighed, l.weight = 0, 0
	}
	l.weight += weigh(history[l.weighed:])
	l.weighed = len(history)
}

// clear removes the shelf if no retry is expected.
func (l *lane) clear() {
	if !l.flights.Waiting() {
		l.shelf = nil
	}
}
