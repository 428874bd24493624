package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Preflight is the payload of before_model_call, which covers the call from beginning to end. An ErrorType means
// that the hook returned an error.
type Preflight struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent,omitempty"`
	Model     string `json:"model"`
	Triggered bool   `json:"triggered"` // the call compacted; with an ErrorType: it was going to compact
	Manual    bool   `json:"manual"`
	// reason for compacting or not; empty if the call failed before the decision
	Reason       string `json:"reason,omitempty"`
	Step         int    `json:"step,omitempty"` // the compaction's number; 0 without one
	TokensIn     int    `json:"tokens_in"`      // of the whole history
	TokensBefore int    `json:"tokens_before"`  // of the history with the edits of earlier steps
	TokensAfter  int    `json:"tokens_after"`
	TokensSaved  int    `json:"tokens_saved"` // computed: TokensIn - TokensAfter
	// sum over the calls of the session in this process; starts at 0 in each process
	SessionSaved    int `json:"session_tokens_saved"`
	MaxTokens       int `json:"max_tokens"`
	Budget          int `json:"budget"`
	MessagesIn      int `json:"message_count_in"`     // of the whole history
	MessagesBefore  int `json:"message_count_before"` // of the history with the edits of earlier steps
	MessagesAfter   int `json:"message_count_after"`
	PrunedCount     int `json:"pruned_count"`     // removed by this call: summarized + dropped
	SummarizedCount int `json:"summarized_count"` // removed messages that are in a summary of this call
	MaskedCount     int `json:"masked_count"`     // masked by this call
	TruncatedCount  int `json:"truncated_count"`
	// messages of the history that are not in the view, removed by this call or earlier
	// ones
	SessionPruned int                `json:"session_pruned_count"`
	SessionMasked int                `json:"session_masked_count"` // messages that are masked in the view
	SessionTrunc  int                `json:"session_truncated_count"`
	Replayed      int                `json:"replayed_edits"` // edits of earlier steps that the ledger applied again
	Timings       map[string]float64 `json:"timings_ms"`     // duration of each part, in milliseconds; waits are named …_wait
	// events that were not delivered since the start, over all exporters
	EventsDropped   uint64            `json:"events_dropped"`
	EventsLost      map[string]uint64 `json:"events_lost,omitempty"`   // the same by exporter, without exporters that lost no events
	Before          *RoleLayers       `json:"layers_before,omitempty"` // layers of tokens_before; omitted without a decision
	After           *RoleLayers       `json:"layers_after,omitempty"`  // layers of tokens_after
	ReductionStage  string            `json:"reduction_stage"`         // severest reduction in the view: "none", "truncation", "masking", "summarization", "fallback"
	CallStage       string            `json:"call_stage"`              // severest reduction that this call made
	InvariantStatus string            `json:"invariant_status"`        // "ok", "fallback"
	Unarchived      bool              `json:"unarchived,omitempty"`    // the archive failed, and the call continued (storage.on_error: continue): the removed text may not be stored
	Bill            *CallBill         `json:"bill,omitempty"`          // nil after an error, or if sizes are not in tokens
	AsBefore        *AsBefore         `json:"as_before,omitempty"`     // only in the audit log
	ErrorType       string            `json:"error_type,omitempty"`

	OutputText string `json:"output_text"` // one line; written if empty
}

// AsBefore refers to earlier lines of the audit log. If a call's estimate and its decision not
// to compact differ from earlier ones only in the size of the request and the prices of candidates, the log has no lines
// for them. Then layers_after is left out if it equals layers_before, and so are durations
// of 0.
type AsBefore struct {
	Estimate string  `json:"estimate,omitempty"`    // span of that compact.token_estimate; empty: the call has its own line
	Decision string  `json:"decision,omitempty"`    // span of that compact.trigger_decision
	TEst     int     `json:"t_est"`                 // estimated tokens in this call's decision
	Factor   float64 `json:"calibration,omitempty"` // calibration factor of this call's estimate

	// Candidates are those of this call's decision; its line is left out although an earlier one
	// has others.
	Candidates []Candidate `json:"candidates,omitempty"`
}

func (a *AsBefore) finite() *AsBefore {
	if a == nil {
		return nil
	}
	out := *a
	out.Factor, out.Candidates = finite(out.Factor), slices.Clone(out.Candidates)
	for i, c := range out.Candidates {
		out.Candidates[i] = c.finite()
	}
	return &out
}

// RoleLayers splits the tokens of a request by role.
type RoleLayers struct {
	System      int `json:"system"`
	Developer   int `json:"developer"`
	ToolsSchema int `json:"tools_schema"`
	Summary     int `json:"summary"` // or the notice in place of one
	User        int `json:"user"`
	Assistant   int `json:"assistant"`
	ToolResults int `json:"tool_results"`
	Overhead    int `json:"overhead"` // priming of the reply, and tokens that the caller added
}

// CallBill is the expected cost of a call in US dollars. Estimated figures were
// counted before the call. Projected figures are for the whole history, as if it
// had been sent. A [CallUsage] has the figures that the provider bills. Figures
// of the session are sums over its calls in this process, and start at 0 in each
// process.
type CallBill struct {
	Prices         string  `json:"prices"`
	Relative       bool    `json:"relative"` // no price of the model is known: the unit is the price of a million input tokens
	EstimatedUSD   float64 `json:"estimated_prompt_usd"`
	WholeUSD       float64 `json:"projected_whole_prompt_usd"`
	SummaryUSD     float64 `json:"summary_usd"` // known cost of the summaries of this call; each event [Summarize] has the cost of its summary
	SessionUSD     float64 `json:"session_estimated_prompts_usd"`
	SessionWhole   float64 `json:"session_projected_whole_prompts_usd"`
	SessionSummary float64 `json:"session_summaries_usd"`

	// part of SummaryUSD: answers without a usage, and requests that were cut off and may have been
	// billed
	SummaryEstimated float64 `json:"summary_estimated_usd,omitempty"`
	SessionEstimated float64 `json:"session_summaries_estimated_usd,omitempty"`
	SummaryPrices    string  `json:"summary_prices,omitempty"` // the price card of the summaries
}

// line is the end of a compaction's text: what its prompt and its summary cost. It is ""
// without an estimate.
func (b *CallBill) line() string {
	if b == nil || b.EstimatedUSD == 0 {
		return ""
	}
	parts := []string{"prompt about " + amount(b.EstimatedUSD, b.Relative), "whole history " + amount(b.WholeUSD, b.Relative)}
	if b.SummaryUSD > 0 {
		parts = append(parts, "summary "+amount(b.SummaryUSD, b.Relative))
	}
	return "; " + strings.Join(parts, ", ") + unit(b.Relative)
}

func (b *CallBill) finite() *CallBill {
	if b == nil {
		return nil
	}
	out := *b
	for _, f := range []*float64{&out.EstimatedUSD, &out.WholeUSD, &out.SummaryUSD, &out.SessionUSD, &out.SessionWhole, &out.SessionSummary, &out.SummaryEstimated, &out.SessionEstimated} {
		*f = finite(*f)
	}
	return &out
}

func (p Preflight) spec() spec {
	severity := ""
	if p.Triggered && p.ErrorType == "" && (p.InvariantStatus == "fallback" || p.Unarchived) {
		severity = SeverityWarning
	}
	return spec{NameBeforeModelCall, KindPreflight, statusOf(p.ErrorType), severity}
}

func (p Preflight) complete() any {
	timings := make(map[string]float64, len(p.Timings)) // never null
	for k, v := range p.Timings {
		timings[k] = finite(v)
	}
	p.Timings, p.Bill, p.AsBefore = timings, p.Bill.finite(), p.AsBefore.finite()
	p.TokensSaved = p.TokensIn - p.TokensAfter
	p.OutputText = or(p.OutputText, p.line)
	return p
}

func (p Preflight) line() string {
	switch {
	case p.ErrorType != "":
		text := fmt.Sprintf("failed: %s; %d tokens, budget %d", p.ErrorType, p.TokensBefore, p.Budget)
		if p.TokensAfter > p.TokensBefore { // a failed call returns the history without the edits of earlier steps
			text += fmt.Sprintf("; the unchanged history was returned: %d tokens", p.TokensAfter)
		}
		return text
	case !p.Triggered:
		verdict := "nothing to do"
		if p.Reason != "" && p.Reason != ReasonBelow {
			verdict = "not compacted (" + p.Reason + ")"
		}
		return fmt.Sprintf("%s: %d / %d tokens", verdict, p.TokensAfter, p.MaxTokens)
	}
	text := p.done() + ": " + p.way()
	if p.SummarizedCount > 0 {
		text = fmt.Sprintf("compacted %s: %d pruned, %d masked, %d truncated", p.way(), p.PrunedCount, p.MaskedCount, p.TruncatedCount)
	}
	if p.Unarchived {
		text += "; the archive failed"
	}
	return text + p.Bill.line()
}

func (p Preflight) way() string {
	return fmt.Sprintf("%d -> %d tokens (-%.1f%%)", p.TokensBefore, p.TokensAfter, reduction(p.TokensBefore, p.TokensAfter))
}

// done describes the outcome of a call without a summary.
func (p Preflight) done() string {
	if p.Reason == ReasonArrival {
		return "reduced " + count(p.TruncatedCount, "result") + " at arrival"
	}
	var did []string
	for _, d := range []struct {
		verb string
		n    int
	}{{"pruned", p.PrunedCount}, {"masked", p.MaskedCount}, {"truncated", p.TruncatedCount}} {
		if d.n > 0 {
			did = append(did, d.verb+" "+count(d.n, "message"))
		}
	}
	if len(did) == 0 {
		return "changed the request"
	}
	return strings.Join(did, ", ")
}

// Error is the payload of compact.error: a failure and its fallback. Its
// display text is message, so it has no output_text.
type Error struct {
	SessionID string       `json:"session_id"`
	Step      int          `json:"step,omitempty"`
	Tokens    int          `json:"tokens,omitempty"` // actual size, for an error about size
	Budget    int          `json:"budget,omitempty"` // allowed size
	Attempts  int          `json:"attempts,omitempty"`
	Cause     string       `json:"cause,omitempty"`    // kind of the underlying failure, from a short list: "timeout", "no_space"
	ErrorType string       `json:"error_type"`         // a stable name: "InsufficientBudget", "SummarizerRefused"
	Fallback  string       `json:"fallback"`           // one of the Fallback constants, or a similar short text; FallbackNone is written if empty
	Stage     string       `json:"stage,omitempty"`    // the stage whose edits were discarded
	Strategy  string       `json:"strategy,omitempty"` // strategy of the summary
	Largest   []ResultSize `json:"largest,omitempty"`  // the largest results or messages
	Chain     []string     `json:"chain,omitempty"`    // the errors of the attempts, first to last
	Guidance  string       `json:"guidance,omitempty"` // advice for the operator
	// ids of earlier spans in the audit log that made no step: another process took the step's number, or
	// storing the step failed
	Voids []string `json:"voids,omitempty"`

	Message string `json:"message"`
}

// Fallbacks of an [Error].
const (
	FallbackNone       = "none"
	FallbackPruning    = "pruning-only"
	FallbackExtractive = "extractive"
	FallbackNewEpoch   = "new epoch" // earlier decisions are discarded: the session's history is compacted again from the start
	FallbackNotUsed    = "not used"  // a changed file of the archive is ignored
)

// spec returns a warning if there was a fallback.
func (p Error) spec() spec {
	severity := ""
	if p.Fallback != "" && p.Fallback != FallbackNone {
		severity = SeverityWarning
	}
	return spec{NameError, KindError, StatusError, severity}
}

func (p Error) complete() any {
	if p.Fallback == "" {
		p.Fallback = FallbackNone
	}
	p.Message = or(p.Message, func() string { return p.ErrorType })
	return p
}

// RedactionDisabled is the payload of compact.redaction_disabled, an event of
// [SeverityHigh]: data is stored and exported unredacted from now on.
type RedactionDisabled struct {
	SessionID string `json:"session_id"`
	Severity  string `json:"severity"` // computed: SeverityHigh
	Setting   string `json:"setting"`  // the setting that switched redaction off: "redaction.enabled"

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p RedactionDisabled) spec() spec {
	return spec{NameRedactionDisabled, KindSecurity, StatusOK, SeverityHigh}
}

func (p RedactionDisabled) complete() any {
	p.Severity = SeverityHigh
	p.OutputText = or(p.OutputText, func() string {
		return "redaction is switched off (" + p.Setting + "): secrets are stored and exported as they are"
	})
	return p
}
