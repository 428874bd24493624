package compact

import (
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// ReductionStage is the most severe reduction in a view, or by a call.
type ReductionStage string

// The reduction stages, in order of increasing harm.
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
	InvariantsFallback = "fallback" // a stage's edits were discarded, or messages were removed without a summary
)

// A Result is the outcome of a call. It is never nil: on an error its Messages
// are the unchanged history, After counts that history, and Decisions is empty.
type Result struct {
	// Messages is the view to send to the model. The caller owns the slice; the
	// messages are shared with the history.
	Messages []message.Message `json:"-"`

	Session string `json:"session"`         // as given by the caller
	Agent   string `json:"agent,omitempty"` // as given by the caller
	Model   string `json:"model"`           // model whose tokens were counted
	Step    int    `json:"step,omitempty"`  // number of the step that this call committed; 0 = none

	Triggered bool   `json:"triggered"`        // this call compacted
	Manual    bool   `json:"manual,omitempty"` // called by ManualCompact or PlanManual
	Reason    string `json:"reason"`           // why the call compacted, or why not
	Note      string `json:"note,omitempty"`   // note given to ManualCompact, redacted
	Replayed  int    `json:"replayed_edits"`   // number of edits of earlier compactions that were applied again

	Earlier []Earlier `json:"earlier,omitempty"` // compactions in the view that were made with other settings

	TokensIn     int    `json:"tokens_in"`             // tokens of the incoming history
	Before       Layers `json:"before"`                // the history with the edits of earlier compactions
	After        Layers `json:"after"`                 // the view
	MaxTokens    int    `json:"max_tokens"`            // the window
	Budget       int    `json:"budget"`                // maximum tokens of a view
	Trigger      int    `json:"trigger"`               // tokens at which a compaction is due
	Target       int    `json:"target"`                // a compaction ends at or below this
	UpperBound   int    `json:"upper_bound,omitempty"` // likely maximum of After; above After only if the tokenizer is not public
	CountingUnit string `json:"counting"`              // unit of all numbers of tokens: the encoding, "bytes/4" or "utf-16"

	ReductionStage  ReductionStage `json:"reduction_stage"`  // stage of the view, made by this call or an earlier one
	CallStage       ReductionStage `json:"call_stage"`       // for changes of this call
	InvariantStatus string         `json:"invariant_status"` // [InvariantsOK] or [InvariantsFallback]

	// The number of messages of the history by their final decision: a message
	// that was masked and later summarized counts as summarized. Stages lists
	// the edits of each stage.
	KeptCount       int `json:"kept_count"`
	TruncatedCount  int `json:"truncated_count"`
	MaskedCount     int `json:"masked_count"`
	MaskedChars     int `json:"masked_chars"` // characters that placeholders replaced
	SummarizedCount int `json:"summarized_count"`
	DroppedCount    int `json:"dropped_count"`

	Decisions []MessageDecision   `json:"decisions"`          // one for each message of the history
	Sources   []int               `json:"sources"`            // for each message of the view, its index in the history; -1 = made by the manager
	Tidied    []Tidied            `json:"tidied,omitempty"`   // results reduced by the stage tidy, by reducer, and how many were needed again
	Stages    []StageReport       `json:"stages"`             // one for each stage that ran in this call, in order
	Summary   *policy.SummaryInfo `json:"summary,omitempty"`  // summary in the view; nil: none
	Savings   Savings             `json:"savings"`            // compared with the incoming history
	Keep      policy.Keep         `json:"keep"`               // the keep counts in effect; smaller than configured after a shrink
	Archived  *Archived           `json:"archived,omitempty"` // nil: this call stored nothing
	Warnings  []string            `json:"warnings,omitempty"` // failures that the call recovered from, redacted
	Timing    Timing              `json:"timing"`             // in nanoseconds when encoded as JSON

	// Candidates are the options that policy.when economic evaluated, even if it
	// chose none; empty below the minimum step.
	Candidates []Candidate `json:"candidates,omitempty"`

	// Bill is the cost of the call; nil if nothing was counted, and for a plan.
	Bill *Bill `json:"bill,omitempty"`

	// Projected is the result that an observed call would have had: its view was not
	// sent, its Step is in no ledger, and its savings were not made. Nil: the call
	// was not observed, or the observation failed, which Warnings reports.
	Projected *Result `json:"projected,omitempty"`

	observe observation
}

// A MessageDecision is the decision for one message of the history. Tokens
// include the message's share of the format; they are 0 after a message is
// removed.
type MessageDecision struct {
	Index        int             `json:"index"`
	Role         message.Role    `json:"role"`
	Decision     policy.Decision `json:"decision"`
	Reason       string          `json:"reason"`
	TokensBefore int             `json:"tokens_before"`
	TokensAfter  int             `json:"tokens_after"`
}

// A StageReport is the outcome of one stage in this call.
type StageReport struct {
	Stage   string        `json:"stage"`
	Edits   int           `json:"edits"` // a cut or masked result, or a removed span, is one edit
	Before  int           `json:"tokens_before"`
	After   int           `json:"tokens_after"`
	Elapsed time.Duration `json:"elapsed_ns"`      // the summarizer included
	Err     string        `json:"error,omitempty"` // why its edits were discarded, redacted; "" = they were not
}

// Layers splits the tokens of a request by kind; their sum is Total.
type Layers struct {
	System      int `json:"system"`
	Developer   int `json:"developer"`
	ToolsSchema int `json:"tools_schema"`
	Summary     int `json:"summary"` // the summary, or the notice that replaces it
	User        int `json:"user"`
	Assistant   int `json:"assistant"`
	ToolResults int `json:"tool_results"`
	Overhead    int `json:"overhead"` // tokens that prime the reply
	Total       int `json:"total"`
	Messages    int `json:"message_count"` // a number of messages, not of tokens
}

// Savings are the tokens that the edits of this call and of earlier calls save
// on this request.
type Savings struct {
	ObservationTokens int     `json:"observation_tokens"` // of the history's tool results
	VisibleTurns      int     `json:"visible_turns"`      // turns of the view with all results in full
	MaskedTurns       int     `json:"masked_turns"`       // turns of the view with a masked result
	TokensSaved       int     `json:"tokens_saved"`       // tokens of the history minus tokens of the view
	Percent           float64 `json:"percent"`            // saved share of the history
}

// Archived names the place in the archive of the text that a compaction removed.
type Archived struct {
	Adapter  string   `json:"adapter"`       // "fs", "memory", "s3", or "custom" for Config.Archive
	Location string   `json:"location"`      // the folder of the session, or its URL
	Files    []string `json:"files"`         // names of this compaction's files in the archive
	Head     string   `json:"manifest_head"` // the hash at the end of the manifest after this compaction; keep it elsewhere to prove the content of the archive later: `compactctl archive verify --head`
}

// Timing is the duration of each part of a call.
type Timing struct {
	Ledger    time.Duration `json:"ledger_ns"` // reading the session's ledger, the first time
	Replay    time.Duration `json:"replay_ns"` // applying the edits of earlier compactions
	Count     time.Duration `json:"count_ns"`
	Stages    time.Duration `json:"stages_ns"`    // without the summarizer
	Summarize time.Duration `json:"summarize_ns"` // waiting for the summary
	Archive   time.Duration `json:"archive_ns"`   // storing the removed text, concurrently with the summarizer or within Commit
	Commit    time.Duration `json:"commit_ns"`
	Total     time.Duration `json:"total_ns"`

	// Waiting times for the named events. They are part of Total only.
	LaneWait    time.Duration `json:"lane_wait_ns"`    // another call of the same agent
	ArchiveWait time.Duration `json:"archive_wait_ns"` // the end of Archive, after the stages
	CommitWait  time.Duration `json:"commit_wait_ns"`  // other agents that commit a step of the session
	PlaceWait   time.Duration `json:"place_wait_ns"`   // a slot for computing, held by compactions of other sessions; there are fewer slots than cores
}
