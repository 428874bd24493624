package trace

import "fmt"

// MaskedObservations is the payload of compact.masked_observations: old tool
// results that became placeholders.
type MaskedObservations struct {
	SessionID       string   `json:"session_id"`
	Step            int      `json:"step"`
	MaskedCount     int      `json:"masked_count"` // tool results; other events count messages, which can have several
	MaskedChars     int      `json:"masked_chars"`
	VisibleCount    int      `json:"visible_count"` // tool results that are still in the view, in full or truncated
	WindowTurns     int      `json:"window_turns"`
	KeepRecentTurns int      `json:"keep_recent_turns"`
	TokensBefore    int      `json:"tokens_before"`
	TokensAfter     int      `json:"tokens_after"`
	ReductionPct    float64  `json:"reduction_pct"` // computed
	MaskedIDs       []string `json:"masked_ids,omitempty"`
	MediaCount      int      `json:"media_count,omitempty"` // pictures, sounds and files, which are not counted as observations
	MediaBytes      int      `json:"media_bytes,omitempty"`

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p MaskedObservations) spec() spec {
	return spec{NameMaskedObservations, KindMask, StatusOK, ""}
}

func (p MaskedObservations) complete() any {
	p.ReductionPct = reduction(p.TokensBefore, p.TokensAfter)
	p.OutputText = or(p.OutputText, func() string {
		if p.MediaCount > 0 {
			return fmt.Sprintf("masked %s of media (%d bytes); %d -> %d tokens (-%.1f%%)",
				count(p.MediaCount, "piece"), p.MediaBytes, p.TokensBefore, p.TokensAfter, p.ReductionPct)
		}
		return fmt.Sprintf("masked %s (%d chars); %d -> %d tokens (-%.1f%%)",
			count(p.MaskedCount, "observation"), p.MaskedChars, p.TokensBefore, p.TokensAfter, p.ReductionPct)
	})
	return p
}

// TruncatedResults is the payload of compact.truncated_results: tool results
// that were cut as too large.
type TruncatedResults struct {
	SessionID      string       `json:"session_id"`
	Step           int          `json:"step"`
	TruncatedCount int          `json:"truncated_count"` // tool results; other events count messages, which can have several
	LimitTokens    int          `json:"limit_tokens"`    // tokens that the most shortened result kept, at most truncate.max_tool_result_tokens; for tidy: tokens from which a result is reduced
	TokensBefore   int          `json:"tokens_before"`
	TokensAfter    int          `json:"tokens_after"`
	ReductionPct   float64      `json:"reduction_pct"` // computed
	Mode           string       `json:"mode"`          // "head", "tail", "both", "tidy"
	Results        []ResultSize `json:"results,omitempty"`
	// Reducers counts the reductions by reducer, if the stage is tidy.
	Reducers []ReducerCount `json:"reducers,omitempty"`

	OutputText string `json:"output_text"` // one line; written if empty
}

// ResultSize is the size of a tool result before and after a cut, or of a
// message that does not fit.
type ResultSize struct {
	Index  int    `json:"index"`          // of the message in the history, from 0; -1: not in the history
	Tokens int    `json:"tokens"`         // tokens before
	Kept   int    `json:"kept,omitempty"` // tokens after
	Role   string `json:"role,omitempty"`
	Tool   string `json:"tool,omitempty"`
}

func (p TruncatedResults) spec() spec {
	return spec{NameTruncatedResults, KindTruncate, StatusOK, ""}
}

func (p TruncatedResults) complete() any {
	p.ReductionPct = reduction(p.TokensBefore, p.TokensAfter)
	p.OutputText = or(p.OutputText, func() string {
		if len(p.Reducers) > 0 {
			return fmt.Sprintf("reduced %s at arrival; %d -> %d tokens (-%.1f%%)", count(p.TruncatedCount, "result"), p.TokensBefore, p.TokensAfter, p.ReductionPct)
		}
		return fmt.Sprintf("truncated %s to about %d tokens (%s); %d -> %d tokens (-%.1f%%)",
			count(p.TruncatedCount, "result"), p.LimitTokens, p.Mode, p.TokensBefore, p.TokensAfter, p.ReductionPct)
	})
	return p
}

// PrunedMessages is the payload of compact.pruned_messages: the messages that
// left the view, and the rest of the view by layer.
type PrunedMessages struct {
	SessionID       string   `json:"session_id"`
	Step            int      `json:"step"`
	PrunedCount     int      `json:"pruned_count"`  // summarized + dropped; all counts here are for this step alone
	TotalMessages   int      `json:"message_count"` // number of messages in the view before
	SummarizedCount int      `json:"summarized_count"`
	DroppedCount    int      `json:"dropped_count"`
	MaskedCount     int      `json:"masked_count"`
	TruncatedCount  int      `json:"truncated_count"`
	TokensBefore    int      `json:"tokens_before"`
	TokensAfter     int      `json:"tokens_after"`
	ReductionPct    float64  `json:"reduction_pct"` // computed
	Target          int      `json:"target"`
	Budget          int      `json:"budget"`
	Kept            Kept     `json:"kept"`
	Layers          Layers   `json:"layers"`
	ReductionStage  string   `json:"reduction_stage"`  // stage of the view after the step: "none", "truncation", "masking", "summarization", "fallback"
	InvariantStatus string   `json:"invariant_status"` // "ok", "fallback"
	PrunedIDs       []string `json:"pruned_ids,omitempty"`
	// Taken lists the messages that lost the most tokens, at most twenty. Rest sums up the
	// other messages by role, tool and outcome.
	Taken []TakenRow `json:"taken,omitempty"`
	Rest  []TakenSum `json:"taken_rest,omitempty"`

	OutputText string `json:"output_text"` // one line; written if empty
}

// TakenRow is a message that this step reduced or removed.
type TakenRow struct {
	Index  int    `json:"index"` // index in the history, from 0
	Turn   int    `json:"turn"`  // number of the turn in the history, from 1
	Role   string `json:"role"`
	Tool   string `json:"tool,omitempty"` // tool of the call or the result in the message
	Became string `json:"became"`         // decision: "summarized", "dropped", "masked", "truncated"
	In     int    `json:"tokens_in"`      // tokens in the history
	Tokens int    `json:"tokens"`         // tokens in the view before this step; less than tokens_in after an earlier edit
	Left   int    `json:"tokens_left"`    // tokens in the view after this step
	Ref    string `json:"ref"`            // the first 12 digits of its fingerprint, as in pruned_ids
}

// TakenSum adds up the other reduced or removed messages.
type TakenSum struct {
	Role     string `json:"role"`
	Tool     string `json:"tool,omitempty"`
	Became   string `json:"became"`
	Messages int    `json:"messages"`
	In       int    `json:"tokens_in"`
	Tokens   int    `json:"tokens"`
	Left     int    `json:"tokens_left"`
}

// Layers are the layers of the view, in order.
type Layers struct {
	Pinned  Layer `json:"pinned"`
	Summary Layer `json:"summary"`
	Recent  Layer `json:"recent"`
}

// Layer is the size of one layer.
type Layer struct {
	Messages int `json:"messages"`
	Tokens   int `json:"tokens"`
}

func (p PrunedMessages) spec() spec { return spec{NamePrunedMessages, KindPrune, StatusOK, ""} }

func (p PrunedMessages) complete() any {
	p.ReductionPct = reduction(p.TokensBefore, p.TokensAfter)
	p.OutputText = or(p.OutputText, func() string {
		lost := ""
		if p.DroppedCount > 0 {
			lost = fmt.Sprintf(" (%d summarized, %d dropped without a summary)", p.SummarizedCount, p.DroppedCount)
		}
		return fmt.Sprintf("pruned %d of %s%s; %d -> %d tokens (-%.1f%%)",
			p.PrunedCount, count(p.TotalMessages, "message"), lost, p.TokensBefore, p.TokensAfter, p.ReductionPct)
	})
	return p
}
