package summarize

import (
	"time"

	"github.com/agentcompact/compact/strategy"
)

// A Phase is the phase of a summary that a [CallInfo] reports.
type Phase string

// The phases of a summary. A summary begins with one Started and ends with one Finished;
// between them, each call has an Answered. Only [Beside].Heard also gets a Sent for each
// call: a call with a Sent and no Answered is under way.
const (
	Started  Phase = "started"
	Sent     Phase = "sent"
	Answered Phase = "answered"
	Finished Phase = "finished"
)

// A CallInfo is an event in the writing of a summary, for an observer.
type CallInfo struct {
	Phase    Phase
	Strategy string
	Backend  string
	Model    string

	Piece, Pieces int // number of the piece and of all pieces; Piece is 0 for the merge and for the whole
	Attempt       int // number of calls of this backend so far
	MaxTokens     int // requested limit of the answer

	InputMessages int
	InputTokens   int // tokens of the whole input of the summary; 0 = not counted
	SummaryTokens int // tokens of the draft
	Prompt        int // billed tokens, if known: for Finished the sum over all calls of this backend, otherwise the tokens of this call
	Completion    int
	Cached        int  // part of Prompt read from a cache
	Written       int  // part of Prompt written into a cache
	CacheKnown    bool // the server reported cached tokens; only for Answered

	Answer strategy.Answer // answer of the server; for Finished the last answer

	Err     error  // nil = the draft was accepted
	Action  string // reaction to Err: "retry in 2s", "half the limit", "brief", …
	Elapsed time.Duration
	At      time.Time // time of this event, the end of Elapsed
}
