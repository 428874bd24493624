package strategy

import "time"

// A Phase says at which point of a summary a [CallInfo] was made.
type Phase string

// The phases. A summary begins with one Started and ends with one Finished;
// between them come the answers to each call.
const (
	Started  Phase = "started"
	Answered Phase = "answered"
	Finished Phase = "finished"
)

// CallInfo tells an observer of the work on a summary.
type CallInfo struct {
	Phase    Phase
	Strategy string
	Backend  string
	Model    string

	Piece, Pieces int // which of how many; Piece is 0 for the merge and for the whole
	Attempt       int // calls of the Summarizer so far
	MaxTokens     int // the limit that was asked for

	InputMessages int
	InputTokens   int // of all that is to be summarized; 0 = not counted
	SummaryTokens int // of the draft
	Prompt        int // tokens billed, where the summarizer tells: of this call, with Finished of all
	Completion    int
	Cached        int  // of Prompt: read from a cache
	Written       int  // likewise: written into one
	CacheKnown    bool // the server says what was; of Answered alone

	Answer Answer // of the server; with Finished that of the last one

	Err     error  // nil = the draft was taken
	Action  string // what is done about Err: "retry in 2s", "half the limit", "brief", …
	Elapsed time.Duration
	At      time.Time // when this was told: the end of Elapsed
}
