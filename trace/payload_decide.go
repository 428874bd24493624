package trace

import "fmt"

// TokenEstimate is the payload of compact.token_estimate: the token count of
// the request about to be sent.
type TokenEstimate struct {
	SessionID string    `json:"session_id"`
	Model     string    `json:"model"`
	TEst      int       `json:"t_est"`            // tokens of the whole request
	Estimated int       `json:"tokens_estimated"` // computed: TEst, under another key
	MaxTokens int       `json:"max_tokens"`       // the model's window
	Budget    int       `json:"budget"`           // the window without buffer and reply; the view must not exceed it
	UsagePct  float64   `json:"usage_pct"`        // computed: TEst / MaxTokens, as a share of 1
	Breakdown Breakdown `json:"breakdown"`
	Messages  int       `json:"message_count"`         // number of messages counted in t_est, with the edits of earlier steps
	HistoryIn int       `json:"message_count_in"`      // number of messages in the whole history
	Encoding  string    `json:"encoding,omitempty"`    // counting method: "cl100k_base", "chars/4"
	Factor    float64   `json:"calibration,omitempty"` // factor on the count, learned from the provider's figures

	OutputText string `json:"output_text"` // one line; written if empty
}

// Breakdown splits the tokens of a request.
type Breakdown struct {
	System      int `json:"system"`
	Developer   int `json:"developer"`
	ToolsSchema int `json:"tools_schema"`
	Messages    int `json:"messages"`
}

func (p TokenEstimate) spec() spec { return spec{NameTokenEstimate, KindEstimate, StatusOK, ""} }

func (p TokenEstimate) complete() any {
	p.Estimated, p.UsagePct, p.Factor = p.TEst, ratio(p.TEst, p.MaxTokens), finite(p.Factor)
	p.OutputText = or(p.OutputText, func() string {
		return fmt.Sprintf("%d / %d tokens (%.1f%%)", p.TEst, p.MaxTokens, 100*p.UsagePct)
	})
	return p
}

// TriggerDecision is the payload of compact.trigger_decision: the decision
// whether to compact, with all its comparisons.
type TriggerDecision struct {
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Triggered bool   `json:"triggered"`
	Manual    bool   `json:"manual"` // the compaction was requested, not triggered by size
	Reason    string `json:"reason"` // one of the Reason constants, or a similar short text
	TEst      int    `json:"t_est"`  // the compared figure: the estimate, or its upper bound if the tokenizer is not public
	// Estimated is the estimate if TEst is its upper bound, else 0.
	Estimated int     `json:"tokens_estimated,omitempty"`
	MaxTokens int     `json:"max_tokens"`
	UsagePct  float64 `json:"usage_pct"`       // computed: TEst / MaxTokens
	Trigger   int     `json:"trigger"`         // number of tokens at which a compaction is due
	Target    int     `json:"target"`          // number of tokens at which a compaction stops
	Budget    int     `json:"budget"`          // maximum tokens of the view
	Floor     int     `json:"floor,omitempty"` // tokens that no compaction can remove, if they are the reason
	// NextTrigger is the number of tokens that triggers the next compaction of a
	// session that is already above the trigger.
	NextTrigger int        `json:"next_trigger,omitempty"`
	Step        int        `json:"step,omitempty"` // the compaction's number, from 1; changes after a lost race
	Checks      []Check    `json:"checks"`
	Policy      PolicyInfo `json:"policy"`
	*Plan                  // only if triggered
	// Candidates are the options of policy.when economic: all if triggered, else the
	// best.
	Candidates []Candidate `json:"candidates,omitempty"`
	// TidyNeeded counts the reduced results that were needed again since the
	// previous call, by reducer.
	TidyNeeded []ReducerCount `json:"tidy_needed,omitempty"`
	Note       string         `json:"note,omitempty"` // reason of the request

	OutputText string `json:"output_text"` // one line; written if empty
}

// ReducerCount is a number of results of one reducer of the stage tidy.
type ReducerCount struct {
	Reducer string `json:"reducer"`
	Count   int    `json:"count"`
	Tokens  int    `json:"tokens_saved,omitempty"`
}

// Reasons for a decision.
const (
	ReasonUsage    = "usage_pct >= trigger_pct"
	ReasonBudget   = "t_est >= budget"
	ReasonBytes    = "bytes > max_request_bytes" // pictures and files make the body too large
	ReasonEconomic = "economic"                  // policy.when economic: a candidate pays
	ReasonBelow    = "usage_pct < trigger_pct"
	ReasonManual   = "manual"
	// above the trigger, but the messages that must stay exceed the target: due at a larger size.
	ReasonFloor     = "floor_above_target"
	ReasonWaiting   = "waiting_for_next_trigger" // above the trigger, and the last compaction ended above the target: due at a larger size
	ReasonObserve   = "observed"                 // only observed; nothing was changed
	ReasonNever     = "switched_off"             // policy.when is never
	ReasonArrival   = "at_arrival"               // results were reduced on arrival; nothing else was changed
	ReasonEveryCall = "every_call"               // a preset that works on every call
	ReasonLate      = "summary_pending"          // the summary is not finished, and the view fits without it
	// other compactions kept all workers busy until near the deadline, and the view fits already.
	ReasonBusy       = "no_place"
	ReasonNothingOld = "nothing_to_compact"  // all messages are pinned or recent
	ReasonNoRoom     = "insufficient_budget" // the messages that must stay exceed the budget: the call was refused
)

// A Check is one comparison of a decision.
type Check struct {
	Check     string  `json:"check"`     // the text of the comparison: "t_est >= trigger"
	Value     float64 `json:"value"`     // the left side
	Threshold float64 `json:"threshold"` // the right side
	Met       bool    `json:"met"`       // whether the comparison holds
}

// PolicyInfo holds the policy settings that explain a decision.
type PolicyInfo struct {
	TriggerPct      float64 `json:"trigger_pct"`
	TargetPct       float64 `json:"target_pct"`
	HardCapBuffer   int     `json:"hard_cap_buffer"`
	KeepRecentTurns int     `json:"keep_recent_turns"`
	KeepToolIOPairs int     `json:"keep_tool_io_pairs"`
	Strategy        string  `json:"strategy"`
	Preset          string  `json:"preset,omitempty"`
}

func (p PolicyInfo) finite() PolicyInfo {
	p.TriggerPct, p.TargetPct = finite(p.TriggerPct), finite(p.TargetPct)
	return p
}

// Plan counts the messages that a compaction could remove, and how many of them it kept
// and removed; a failed compaction removed no message.
type Plan struct {
	Kept Kept `json:"kept"`
	// maximum number of messages that the stages can summarize or drop, with the smallest keep counts
	PrunableCount int `json:"prunable_count"`
	PrunedCount   int `json:"pruned_count"` // messages that were summarized or dropped
}

// A Candidate is one evaluated way of compacting. Amounts are projected, in US
// dollars, or in units of the model's input price if no price is known.
type Candidate struct {
	Cut       bool    `json:"cut"`        // a summary; false: placeholders alone
	KeepTurns int     `json:"keep_turns"` // number of turns that stay; for a mask: number of turns that keep their results
	MaskTurns int     `json:"mask_turns"` // for cuts: number of turns whose results stay; 0 = all
	Level     int     `json:"level"`      // tokens of the view after the compaction
	Due       int     `json:"due"`        // tokens of the view at which the compaction is due
	Fixed     float64 `json:"projected_fixed_usd"`
	Linear    float64 `json:"projected_linear_usd"`
	Call      float64 `json:"projected_call_usd"`  // average cost of a call if every compaction is like this one
	Saves     float64 `json:"projected_saves_usd"` // savings in the expected calls
	Pays      bool    `json:"pays"`
	Safe      bool    `json:"safe"`
	Chosen    bool    `json:"chosen"`
}

func (c Candidate) finite() Candidate {
	c.Fixed, c.Linear, c.Call, c.Saves = finite(c.Fixed), finite(c.Linear), finite(c.Call), finite(c.Saves)
	return c
}

// Kept counts the content that stays in the view, by layer.
type Kept struct {
	Pinned      int `json:"pinned"`       // messages
	Summary     int `json:"summary"`      // messages: 0 or 1
	RecentTurns int `json:"recent_turns"` // turns
	ToolPairs   int `json:"tool_pairs"`   // calls with their results
}

func (p TriggerDecision) spec() spec { return spec{NameTriggerDecision, KindDecision, StatusOK, ""} }

func (p TriggerDecision) complete() any {
	p.UsagePct = ratio(p.TEst, p.MaxTokens)
	checks := make([]Check, len(p.Checks)) // never null
	for i, c := range p.Checks {
		c.Value, c.Threshold = finite(c.Value), finite(c.Threshold)
		checks[i] = c
	}
	p.Checks, p.Policy = checks, p.Policy.finite()
	for i, c := range p.Candidates {
		p.Candidates[i] = c.finite()
	}
	p.OutputText = or(p.OutputText, p.line)
	return p
}

func (p TriggerDecision) line() string {
	verdict := "not triggered: " + p.Reason
	switch {
	case p.Reason == ReasonArrival && p.Trigger > 0 && p.TEst >= p.Trigger:
		verdict = "results were reduced at arrival, so that no compaction is due"
	case p.Reason == ReasonArrival:
		verdict = "results were reduced at arrival; no compaction is due"
	case p.Triggered:
		verdict = "triggered: " + p.Reason
	}
	size := fmt.Sprintf("%d tokens", p.TEst)
	if p.Estimated > 0 {
		size = fmt.Sprintf("%d tokens, at most %d", p.Estimated, p.TEst)
	}
	s := fmt.Sprintf("%s (%s, %.1f%% of %d; trigger %d, target %d, budget %d)",
		verdict, size, 100*p.UsagePct, p.MaxTokens, p.Trigger, p.Target, p.Budget)
	if p.Note != "" {
		s += ": " + p.Note
	}
	return s
}
