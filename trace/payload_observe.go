package trace

import "fmt"

// Observed is the payload of observe.call: a call that was only observed, whose
// history was sent unchanged. The names distinguish three kinds of figures:
// tokens_estimated was counted here, tokens_projected is the size of the view
// that would have been sent, and [ObservedUsage] has the measured figures.
type Observed struct {
	SessionID    string `json:"session_id"`
	Agent        string `json:"agent,omitempty"`
	Model        string `json:"model"`
	WouldCompact bool   `json:"would_compact"`        // this call would have compacted
	WouldFail    string `json:"would_fail,omitempty"` // the error that the call would have returned: "InsufficientBudget"
	Reason       string `json:"projected_reason"`     // why the call would have compacted, or not
	// if the call would have made a step: number of the session's compactions up to this call; else 0
	Step              int     `json:"projected_step"`
	Estimated         int     `json:"tokens_estimated"`       // of the sent request
	Projected         int     `json:"tokens_projected"`       // of the request that would have been sent
	Saved             int     `json:"tokens_projected_saved"` // computed by the caller: estimated - projected
	MaxTokens         int     `json:"max_tokens"`
	Budget            int     `json:"budget"`
	Messages          int     `json:"message_count"`
	ProjectedMessages int     `json:"projected_message_count"`
	Masked            int     `json:"projected_masked_count"`
	Truncated         int     `json:"projected_truncated_count"`
	Pruned            int     `json:"projected_pruned_count"`
	Stage             string  `json:"projected_stage"`                // of the projected view
	CallStage         string  `json:"projected_call_stage"`           // of the changes that this call would have made
	StandIn           bool    `json:"summary_stands_in"`              // the summary is a stand-in for the summary of a model
	SessionCalls      int     `json:"session_calls"`                  // number of observed calls of this session
	SessionEstimated  int     `json:"session_tokens_estimated"`       // sum over these calls
	SessionSaved      int     `json:"session_tokens_projected_saved"` // sum over these calls
	ElapsedMS         float64 `json:"elapsed_ms"`                     // time of the observation, without the request

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p Observed) spec() spec { return spec{NameObserved, KindObserve, StatusOK, ""} }

func (p Observed) complete() any {
	p.ElapsedMS = finite(p.ElapsedMS)
	p.OutputText = or(p.OutputText, p.line)
	return p
}

func (p Observed) line() string {
	switch {
	case p.WouldFail != "":
		return fmt.Sprintf("observed: would have failed (%s); %d tokens were sent, budget %d", p.WouldFail, p.Estimated, p.Budget)
	case p.Projected == p.Estimated:
		return fmt.Sprintf("observed: nothing would have been done; %d / %d tokens", p.Estimated, p.MaxTokens)
	}
	return fmt.Sprintf("observed: %d tokens were sent, compaction would send %d (-%.1f%%)", p.Estimated, p.Projected, reduction(p.Estimated, p.Projected))
}

// WouldCompact is the payload of observe.would_compact: the compaction that an
// observed call would have made.
type WouldCompact struct {
	SessionID     string           `json:"session_id"`
	Step          int              `json:"projected_step"`
	Reason        string           `json:"projected_reason"`
	Before        int              `json:"tokens_projected_before"` // with the projected edits of earlier compactions
	After         int              `json:"tokens_projected_after"`
	Trigger       int              `json:"trigger"`
	Target        int              `json:"target"`
	SummaryTokens int              `json:"projected_summary_tokens,omitempty"`
	Stages        []ProjectedStage `json:"projected_stages"`
	Policy        PolicyInfo       `json:"policy"`

	OutputText string `json:"output_text"` // one line; written if empty
}

// A ProjectedStage is the projected work of one stage.
type ProjectedStage struct {
	Stage     string `json:"stage"`
	Edits     int    `json:"edits"`
	Before    int    `json:"tokens_projected_before"`
	After     int    `json:"tokens_projected_after"`
	Discarded bool   `json:"discarded"` // the stage's edits broke a promise
}

func (p WouldCompact) spec() spec { return spec{NameWouldCompact, KindObserve, StatusOK, ""} }

func (p WouldCompact) complete() any {
	if p.Stages == nil {
		p.Stages = []ProjectedStage{}
	}
	p.OutputText = or(p.OutputText, func() string {
		if p.Reason == ReasonArrival {
			return fmt.Sprintf("would have reduced results at arrival: %d -> %d tokens (-%.1f%%)", p.Before, p.After, reduction(p.Before, p.After))
		}
		return fmt.Sprintf("would have compacted %d -> %d tokens (-%.1f%%)", p.Before, p.After, reduction(p.Before, p.After))
	})
	return p
}

// ObservedUsage is the payload of observe.usage: the provider's bill for a
// request that was not edited, with the projected tokens.
type ObservedUsage struct {
	SessionID  string `json:"session_id"`
	Model      string `json:"model"`
	Measured   int    `json:"prompt_tokens_measured"`
	Cached     int    `json:"cached_tokens_measured"`
	Written    int    `json:"written_tokens_measured"`
	Output     int    `json:"output_tokens_measured"`
	CacheKnown bool   `json:"cache_measured"` // false: the provider does not report its cache
	Estimated  int    `json:"tokens_estimated"`
	Projected  int    `json:"tokens_projected"`
	Saved      int    `json:"tokens_projected_saved"` // estimated - projected

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p ObservedUsage) spec() spec { return spec{NameObservedUsage, KindObserve, StatusOK, ""} }

func (p ObservedUsage) complete() any {
	p.OutputText = or(p.OutputText, func() string {
		return fmt.Sprintf("billed for %d prompt tokens, estimated %d; %d would have been sent", p.Measured, p.Estimated, p.Projected)
	})
	return p
}
