package strategy

import "time"

// A Phase is the phase of a summary that a [CallInfo] reports.
type Phase string

// The phases. A summary begins with one Started and ends with one Finished;
// between them come the answers to each call. Only [Beside].Heard also gets a Sent
// for each call: one without an Answered is under way.
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
	Attempt       int // calls of this backend so far
	MaxTokens     int // the limit that was asked for

	InputMessages int
	InputTokens   int // of all that is to be summarized; 0 = not counted
	SummaryTokens int // of the draft
	Prompt        int // tokens billed, if known: of this call, for Finished of all calls of this backend
	Completion    int
	Cached        int  // of Prompt: read from a cache
	Written       int  // likewise: written into one
	CacheKnown    bool // the server reported cached tokens; only for Answered

	Answer Answer // of the server; with Finished that of the last one

	Err     error  // nil = the draft was taken
	Action  string // reaction to Err: "retry in 2s", "half the limit", "brief", …
	Elapsed time.Duration
	At      time.Time // time of this event, the end of Elapsed
}
