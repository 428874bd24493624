package compact

import (
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// ReductionStage is the most severe thing that was done to a conversation.
type ReductionStage string

// The stages of a reduction, least harm first.
const (
	ReductionNone          ReductionStage = "none"
	ReductionTruncation    ReductionStage = "truncation"
	ReductionMasking       ReductionStage = "masking"
	ReductionSummarization ReductionStage = "summarization"
	ReductionFallback      ReductionStage = "fallback"
)

// The values of Result.InvariantStatus.
const (
	InvariantsOK       = "ok"
	InvariantsFallback = "fallback" // a stage's edits were thrown away, or messages went without a summary
)

// A Result is what a call of the hook led to. It is never nil: on an error its
// Messages are the history as it came in, After is what that costs, and there
// are no Decisions.
type Result struct {
	// Messages is the view: what the model is to be sent. The slice is the
	// caller's; the messages are shared with the history.
	Messages []message.Message `json:"-"`

	Session string `json:"session"`         // as it was given
	Agent   string `json:"agent,omitempty"` // as it was given
	Model   string `json:"model"`           // that tokens were counted for
	Step    int    `json:"step,omitempty"`  // number of the compaction that this call made; 0 = none

	Triggered bool   `json:"triggered"`        // this call compacted
	Manual    bool   `json:"manual,omitempty"` // by ManualCompact or PlanManual
	Reason    string `json:"reason"`           // why it compacted, or why not
	Note      string `json:"note,omitempty"`   // that ManualCompact was given, redacted
	Replayed  int    `json:"replayed_edits"`   // edits of earlier compactions that were applied again

	Earlier []Earlier `json:"earlier,omitempty"` // compactions in the view that other settings made than those of this call

	TokensIn     int    `json:"tokens_in"`             // the history as it came in
	Before       Layers `json:"before"`                // with the edits of earlier compactions
	After        Layers `json:"after"`                 // the view
	MaxTokens    int    `json:"max_tokens"`            // the window
	Budget       int    `json:"budget"`                // no view costs more
	Trigger      int    `json:"trigger"`               // a compaction is due from here
	Target       int    `json:"target"`                // and goes on until here
	UpperBound   int    `json:"upper_bound,omitempty"` // what After hardly exceeds; more than After only where the tokenizer is not public
	CountingUnit string `json:"counting"`              // the encoding, "bytes/4" or "utf-16": what all numbers of tokens are in

	ReductionStage  ReductionStage `json:"reduction_stage"`
	InvariantStatus string         `json:"invariant_status"` // [InvariantsOK] or [InvariantsFallback]

	// How many messages of the history became what, in the end: one that was
	// masked and then summarized is summarized. Stages has each step.
	KeptCount       int `json:"kept_count"`
	TruncatedCount  int `json:"truncated_count"`
	MaskedCount     int `json:"masked_count"`
	MaskedChars     int `json:"masked_chars"` // characters that placeholders stand for
	SummarizedCount int `json:"summarized_count"`
	DroppedCount    int `json:"dropped_count"`

	Decisions []MessageDecision   `json:"decisions"`          // one for each message that came in
	Sources   []int               `json:"sources"`            // for each message of the view, which one that came in it is; -1 = made here
	Tidied    []Tidied            `json:"tidied,omitempty"`   // what the stage tidy did, by reducer, and what of it was needed
	Stages    []StageReport       `json:"stages"`             // what each stage of this call did, in their order
	Summary   *policy.SummaryInfo `json:"summary,omitempty"`  // of the view; nil: it has none
	Savings   Savings             `json:"savings"`            // against the history as it came in
	Keep      policy.Keep         `json:"keep"`               // the keep counts in force; smaller than configured after a shrink
	Archived  *Archived           `json:"archived,omitempty"` // nil: this call stored nothing
	Warnings  []string            `json:"warnings,omitempty"` // what went wrong and was got over, redacted
	Timing    Timing              `json:"timing"`             // in nanoseconds where it is JSON

	// Candidates are what policy.when economic had to choose from, whether it chose
	// one or not; none below the least step.
	Candidates []Candidate `json:"candidates,omitempty"`

	// Bill is what the call costs; nil where nothing was counted, and for a plan.
	Bill *Bill `json:"bill,omitempty"`

	// Projected is what would have been made of the history, where the call was
	// only observed: its Messages were sent to nobody, its Step is in no ledger, and
	// what it saves was not saved. Nil: the call was done, or could not be observed,
	// which Warnings say.
	Projected *Result `json:"projected,omitempty"`

	observe observation
}

// A MessageDecision says what became of one message that came in. Tokens are
// those of the message with its share of the format; of one that is gone none
// are left.
type MessageDecision struct {
	Index        int             `json:"index"`
	Role         message.Role    `json:"role"`
	Decision     policy.Decision `json:"decision"`
	Reason       string          `json:"reason"`
	TokensBefore int             `json:"tokens_before"`
	TokensAfter  int             `json:"tokens_after"`
}

// A StageReport says what one stage did in this call.
type StageReport struct {
	Stage   string        `json:"stage"`
	Edits   int           `json:"edits"` // a result that was cut or masked, or a span that was taken out, is one
	Before  int           `json:"tokens_before"`
	After   int           `json:"tokens_after"`
	Elapsed time.Duration `json:"elapsed_ns"`      // the summarizer included
	Err     string        `json:"error,omitempty"` // why its edits were thrown away, redacted; "" = they were not
}

// Layers says where the tokens of a request are; their sum is Total.
type Layers struct {
	System      int `json:"system"`
	Developer   int `json:"developer"`
	ToolsSchema int `json:"tools_schema"`
	Summary     int `json:"summary"`
	User        int `json:"user"`
	Assistant   int `json:"assistant"`
	ToolResults int `json:"tool_results"`
	Overhead    int `json:"overhead"` // what primes the reply
	Total       int `json:"total"`
	Messages    int `json:"message_count"` // a number of messages, not of tokens
}

// Savings is what the edits of this call and of those before it save on this
// request.
type Savings struct {
	ObservationTokens int     `json:"observation_tokens"` // of the history's tool results
	VisibleTurns      int     `json:"visible_turns"`      // turns of the view with all results in full
	MaskedTurns       int     `json:"masked_turns"`       // turns of the view with a masked result
	TokensSaved       int     `json:"tokens_saved"`       // what the view costs less than the history
	Percent           float64 `json:"percent"`            // of the history
}

// Archived says where the archive has what was taken out.
type Archived struct {
	Adapter  string   `json:"adapter"`       // "fs", "memory", "s3", or "custom" where the archive was handed in
	Location string   `json:"location"`      // the folder of the session, or its URL
	Files    []string `json:"files"`         // names in it, of this compaction
	Head     string   `json:"manifest_head"` // the manifest's end after this compaction; kept elsewhere, it proves what was there then: `compactctl archive verify --head`
}

// Timing says how long each part took.
type Timing struct {
	Ledger    time.Duration `json:"ledger_ns"` // reading the session's ledger, the first time
	Replay    time.Duration `json:"replay_ns"` // making the edits of earlier compactions again
	Count     time.Duration `json:"count_ns"`
	Stages    time.Duration `json:"stages_ns"`    // without the summarizer
	Summarize time.Duration `json:"summarize_ns"` // until there was a summary: of a model, waited for
	Archive   time.Duration `json:"archive_ns"`   // storing what was taken out; it runs beside the summarizer, or within Commit
	Commit    time.Duration `json:"commit_ns"`
	Total     time.Duration `json:"total_ns"`

	// What was waited for, and is in none of the above but Total.
	LaneWait    time.Duration `json:"lane_wait_ns"`    // another call of the same agent
	ArchiveWait time.Duration `json:"archive_wait_ns"` // the end of Archive, after the stages
	CommitWait  time.Duration `json:"commit_wait_ns"`  // other agents that commit a step of the session
	PlaceWait   time.Duration `json:"place_wait_ns"`   // compactions of other sessions: fewer compute at once than there are cores
}
