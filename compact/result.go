package compact

import (
	"fmt"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/trace"
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
// The caller owns it.
type Result struct {
	// Messages is the view to send to the model. The slice is the caller's own, and
	// its messages share their parts with the history: do not write into the parts.
	Messages []message.Message `json:"-"`

	Session string `json:"session"`         // as given by the caller
	Agent   string `json:"agent,omitempty"` // as given by the caller
	Model   string `json:"model"`           // model whose tokens were counted
	Step    int    `json:"step,omitempty"`  // number of the step that this call committed; 0 = none

	Triggered bool   `json:"triggered"`        // this call compacted
	Manual    bool   `json:"manual,omitempty"` // called by ManualCompact or PlanManual
	Reason    string `json:"reason"`           // why the call compacted, or why not: a constant trace.Reason…
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
	Keep      policy.Keep         `json:"keep"`               // the keep counts of the compaction, or the configured ones; a shrink can keep less
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
	cited   citation
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

// A StageReport is the outcome of one stage in this call. Before and After are the tokens
// of the view.
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
	Overhead    int `json:"overhead"` // tokens that prime the reply, and tokens of WithFixed
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

// Archived says where the archive has the text that a compaction removed.
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

// A Bill is the cost of one call, in US dollars. Figures have three kinds of
// names: estimated figures are counted before the call, measured figures come
// from the usage that the provider reports ([CompactManager.Observe]), and
// projected figures are the cost of the same calls with the whole history.
type Bill struct {
	Prices   string `json:"prices"`             // the name and the source of the price card
	Relative bool   `json:"relative,omitempty"` // the price of the model is unknown: amounts are multiples of the price of a million input tokens, and only ratios are meaningful

	Estimated    price.Usage `json:"estimated_prompt"` // tokens of the prompt, by price
	EstimatedUSD float64     `json:"estimated_prompt_usd"`
	Whole        price.Usage `json:"projected_whole_prompt"` // the same for the whole history, uncompacted
	WholeUSD     float64     `json:"projected_whole_prompt_usd"`
	SummaryUSD   float64     `json:"summary_usd,omitempty"` // price of a model's summaries, as far as it became known in this call

	SummaryEstimatedUSD float64 `json:"summary_estimated_usd,omitempty"` // part of SummaryUSD that is estimated: answers without a usage, and requests that were cut off and may have been billed
	SummaryPrices       string  `json:"summary_prices,omitempty"`        // the name and the source of the price card of the summaries

	// sums over the calls of the session in this process, this one included; if Relative is
	// set, over the calls of this model, and otherwise over the calls with known prices
	Session SessionBill `json:"session"`
}

// A SessionBill adds up the calls of a session, or of a manager. The sums exclude calls
// whose request the provider refused.
type SessionBill struct {
	Calls        int     `json:"calls"`
	EstimatedUSD float64 `json:"estimated_prompts_usd"` // prompts
	WholeUSD     float64 `json:"projected_whole_prompts_usd"`
	SummaryUSD   float64 `json:"summaries_usd"`  // summaries, including unused ones
	Measured     int     `json:"measured_calls"` // calls whose usage was observed, also failed ones whose request was sent unchanged
	MeasuredUSD  float64 `json:"measured_usd"`   // their measured cost, answers included

	SummaryEstimatedUSD float64 `json:"summaries_estimated_usd,omitempty"` // part of SummaryUSD that is estimated
}

// Plus returns the sum of two bills.
func (b SessionBill) Plus(o SessionBill) SessionBill {
	return SessionBill{
		Calls: b.Calls + o.Calls, EstimatedUSD: b.EstimatedUSD + o.EstimatedUSD, WholeUSD: b.WholeUSD + o.WholeUSD,
		SummaryUSD: b.SummaryUSD + o.SummaryUSD, Measured: b.Measured + o.Measured, MeasuredUSD: b.MeasuredUSD + o.MeasuredUSD,
		SummaryEstimatedUSD: b.SummaryEstimatedUSD + o.SummaryEstimatedUSD,
	}
}

// one returns the bill of the call as a part of the session's.
func (b *Bill) one() SessionBill {
	return SessionBill{Calls: 1, EstimatedUSD: b.EstimatedUSD, WholeUSD: b.WholeUSD, SummaryUSD: b.SummaryUSD, SummaryEstimatedUSD: b.SummaryEstimatedUSD}
}

// An Earlier describes compactions whose edits are in a view and that were made
// with other settings. New settings change later compactions, never earlier
// ones.
type Earlier struct {
	Steps    int    `json:"steps"`              // number of compactions; 0 if all of them are edits between steps
	Last     int    `json:"last_step"`          // the number of the newest
	Preset   string `json:"preset,omitempty"`   // "" = the ledger was written before it recorded the preset
	Strategy string `json:"strategy,omitempty"` // of their summary; "" = they made no summary
	Window   int    `json:"window"`             // tokens
}

// sameSettings reports whether two Earlier values have the same settings. An unknown
// setting equals any other.
func (e *Earlier) sameSettings(o *Earlier) bool {
	same := func(a, b string) bool { return a == "" || b == "" || a == b }
	return e.Window == o.Window && same(e.Preset, o.Preset) && same(e.Strategy, o.Strategy)
}

// A Candidate is one way of compacting that policy.when economic evaluated.
// Amounts are expected values in US dollars, or in units of the model's input
// price if the bill is relative.
type Candidate struct {
	policy.Offer
	Due       int     `json:"due"`        // size of the view, in tokens, at which this compaction is due
	FixedUSD  float64 `json:"fixed_usd"`  // cost of writing the cache again from the first edit on, and of the summary
	LinearUSD float64 `json:"linear_usd"` // cost of the removed text: reading it for a summary, and recalls
	CallUSD   float64 `json:"call_usd"`   // average cost of a call if every compaction is like this one
	SavesUSD  float64 `json:"saves_usd"`  // savings over the calls that are still expected
	Pays      bool    `json:"pays"`
	Safe      bool    `json:"safe"`   // if the session ended now, the loss would be at most policy.overrun_pct of the cost of its calls with the whole history
	Chosen    bool    `json:"chosen"` // it is applied
}

// Tidied reports the work of one reducer of the stage tidy on the new results
// of a call, and how many earlier results were needed again.
type Tidied struct {
	Reducer     string `json:"reducer"`      // name of the reducer; each result counts for the reducer that removed most of its bytes
	Results     int    `json:"results"`      // number of new results that it reduced
	TokensSaved int    `json:"tokens_saved"` // tokens removed from these results
	// ReadAgain counts reduced results, at most ten turns old, that the agent requested
	// again before this call: it read the file once more, or ran the command again
	// within one turn or with as much output. Each is counted once. Recalled counts
	// recalls of reduced results since the previous call.
	ReadAgain int `json:"read_again,omitempty"`
	Recalled  int `json:"recalled,omitempty"`
	// Failed counts results of this call that stayed whole because the reducer
	// panicked.
	Failed int `json:"failed,omitempty"`
}

// A Usage holds the token counts that a provider billed for one request.
type Usage struct {
	PromptTokens int // of the whole request, cached ones included

	// ToolRounds: the provider ran tools of its own within this request (a web
	// search), so that the counts cover several prompts. PromptTokens then does not
	// show the number of sent tokens.
	ToolRounds bool

	// CacheKnown: the provider reported the cached tokens, possibly 0. Otherwise
	// the next three fields have no meaning.
	CacheKnown        bool
	CachedTokens      int // tokens read from the cache
	WrittenTokens     int // tokens written into the cache for the shorter lifetime, if that lifetime has its own price
	WrittenHourTokens int // the same, for an hour

	OutputTokens int // of the answer, reasoning included; 0 = not reported

	// ClearedTokens are tokens that the provider itself removed from the prompt
	// before the model read it. PromptTokens does not include them.
	ClearedTokens int
	// CompactedTokens and SummaryTokens are the tokens that the provider read and
	// wrote for its own summary within this request, which it bills in addition.
	// PromptTokens then does not show the number of sent tokens.
	CompactedTokens int
	SummaryTokens   int

	// Refused: the provider refused the prompt, so nothing was billed: the sums of
	// the session exclude the call, and nothing of it counts as cached. PromptTokens, if the
	// provider names it, corrects later estimates.
	Refused bool
}

// citation identifies the conversation to which the numbers of messages in a view belong.
type citation struct {
	owner   ledger.Owner
	history []message.Message
}

// observation connects a result with the usage that is observed later.
type observation struct {
	epoch  *epoch
	id     message.Fingerprint
	fixed  int                 // tokens that the caller added, which need no correction
	shown  func(Usage)         // emits the usage of a request that was only observed; nil = the request was not observed
	later  func(trace.Payload) // emits later events about the request; nil = no events
	billed func(Usage)         // records the usage; nil = not recorded

	failed  bool   // the call failed: no sum has its tokens
	refused func() // takes the call out of the sums of the session; nil = it is in none
}

// furthest is the maximum ratio between a provider's count of a prompt and ours,
// in either direction. A usage beyond it does not belong to that prompt, and is
// ignored.
const furthest = 4

// contradicts returns an error if a usage can't belong to a request in which we counted
// a given number of tokens.
func (u Usage) contradicts(tokens int) error {
	if err := u.isImpossible(); err != nil {
		return err
	}
	switch sent := u.PromptTokens + u.ClearedTokens; {
	case u.CompactedTokens > furthest*max(tokens, 256):
		return fmt.Errorf("%d tokens were read for a summary, but %d were counted", u.CompactedTokens, tokens)
	case u.CompactedTokens > 0, u.ToolRounds: // the rest of the prompt can have any size
	case sent > furthest*max(tokens, 256) || tokens > furthest*max(sent, 256):
		return fmt.Errorf("a prompt of %d tokens, but %d were counted", u.PromptTokens, tokens)
	}
	return nil
}

// isImpossible returns an error if no request can have a usage.
func (u Usage) isImpossible() error {
	parts := u.CachedTokens + u.WrittenTokens + u.WrittenHourTokens
	switch {
	case u.PromptTokens <= 0:
		return fmt.Errorf("a prompt of %d tokens", u.PromptTokens)
	case min(u.CachedTokens, u.WrittenTokens, u.WrittenHourTokens, u.OutputTokens, u.ClearedTokens, u.CompactedTokens, u.SummaryTokens) < 0:
		return fmt.Errorf("a negative number of tokens")
	case parts > u.PromptTokens:
		return fmt.Errorf("%d tokens were read from the cache or written into it, of a prompt of %d", parts, u.PromptTokens)
	}
	return nil
}

// split returns the usage by price. If the provider does not report its cache, the
// prompt is split as in the estimate.
func (u Usage) split(card price.Card, estimated price.Usage) price.Usage {
	if u.CacheKnown {
		rest := u.PromptTokens - u.CachedTokens - u.WrittenTokens - u.WrittenHourTokens
		return price.Usage{Cached: u.CachedTokens, Written: u.WrittenTokens, WrittenHour: u.WrittenHourTokens, Fresh: rest + u.CompactedTokens, Output: u.OutputTokens + u.SummaryTokens}
	}
	out := price.Usage{Fresh: u.PromptTokens}
	if estimated.Cached+estimated.Written > 0 {
		out = card.SplitMarked(u.PromptTokens, u.PromptTokens-estimated.Fresh, estimated.Cached)
	}
	out.Fresh += u.CompactedTokens
	out.Output = u.OutputTokens + u.SummaryTokens
	return out
}
