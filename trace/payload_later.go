package trace

import "fmt"

// Refused is the payload of compact.refused: a provider refused a request as
// too long. It includes the reaction.
type Refused struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent,omitempty"`
	Model     string `json:"model"`
	In        int    `json:"tokens_in"`                        // tokens of the whole history, counted here; 0 after a call that failed, which no sum has
	Estimated int    `json:"tokens_estimated"`                 // tokens of the request, counted here; 0 after a call that failed
	Measured  int    `json:"prompt_tokens_measured,omitempty"` // tokens that the provider counted, if its answer has the number
	Limit     int    `json:"limit_tokens,omitempty"`           // limit in the provider's answer
	Window    int    `json:"window_tokens,omitempty"`          // window for later requests, in tokens counted here
	Retried   bool   `json:"retried"`                          // a smaller request was sent
	// expected cost of the request, in US dollars; it is in the bill of its before_model_call, but
	// nothing was billed
	EstimatedUSD float64 `json:"estimated_prompt_usd"`
	WholeUSD     float64 `json:"projected_whole_prompt_usd"`
	Relative     bool    `json:"prices_relative"` // the unit is the input price of the model, which is not known

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p Refused) spec() spec { return spec{NameRefused, KindRefusal, StatusError, SeverityWarning} }

func (p Refused) complete() any {
	p.EstimatedUSD, p.WholeUSD = finite(p.EstimatedUSD), finite(p.WholeUSD)
	p.OutputText = or(p.OutputText, func() string {
		s := "the provider refused " + unbilledSize(p.Estimated)
		if p.Limit > 0 {
			s += fmt.Sprintf(", it takes %d", p.Limit)
		}
		if p.Retried {
			return s + fmt.Sprintf("; sent again for a window of %d", p.Window)
		}
		return s + "; there is no smaller request"
	})
	return p
}

// ProviderError is the payload of compact.provider_error: a provider answered a request with a
// redirect or with an error that is not about the size of the prompt, or could not be reached.
// Nothing was billed. If the program behind the request, or its SDK, sends the request again, this
// is another call.
type ProviderError struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent,omitempty"`
	Model     string `json:"model"`
	Status    int    `json:"status,omitempty"` // of HTTP; 0 = there was no connection to the provider
	In        int    `json:"tokens_in"`        // tokens of the whole history, counted here; 0 after a call that failed, which no sum has
	Estimated int    `json:"tokens_estimated"` // tokens of the request, counted here; 0 after a call that failed
	// expected cost of the request, in US dollars; it is in the bill of its before_model_call, but
	// nothing was billed
	EstimatedUSD float64 `json:"estimated_prompt_usd"`
	WholeUSD     float64 `json:"projected_whole_prompt_usd"`
	Relative     bool    `json:"prices_relative"` // the unit is the input price of the model, which is not known

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p ProviderError) spec() spec {
	return spec{NameProviderError, KindProvider, StatusError, SeverityWarning}
}

func (p ProviderError) complete() any {
	p.EstimatedUSD, p.WholeUSD = finite(p.EstimatedUSD), finite(p.WholeUSD)
	p.OutputText = or(p.OutputText, func() string {
		if p.Status == 0 {
			return "no connection to the provider; nothing was billed for " + unbilledSize(p.Estimated)
		}
		return fmt.Sprintf("the provider answered %d; nothing was billed for %s", p.Status, unbilledSize(p.Estimated))
	})
	return p
}

// unbilledSize describes a request that was not billed.
func unbilledSize(tokens int) string {
	if tokens == 0 { // of a call that failed
		return "a request that was sent unchanged"
	}
	return fmt.Sprintf("%d tokens", tokens)
}

// Recalled is the payload of compact.recall: a request for text that was
// removed from a view.
type Recalled struct {
	SessionID string `json:"session_id"`
	Ref       string `json:"ref,omitempty"`     // the request: a reference, "turn:17", "s12"
	Pattern   string `json:"pattern,omitempty"` // or the pattern to search for
	Found     bool   `json:"found"`
	Matches   int    `json:"matching_lines,omitempty"`
	Chars     int    `json:"returned_chars"` // characters of the answer
	ErrorType string `json:"error_type,omitempty"`

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p Recalled) spec() spec { return spec{NameRecall, KindRecall, statusOf(p.ErrorType), ""} }

func (p Recalled) complete() any {
	p.OutputText = or(p.OutputText, p.Line)
	return p
}

// Line returns one line for display.
func (p Recalled) Line() string {
	what := p.Ref
	if p.Pattern != "" {
		what = "/" + p.Pattern + "/"
	}
	switch {
	case p.ErrorType != "":
		return fmt.Sprintf("recall %s failed: %s", what, p.ErrorType)
	case !p.Found:
		return fmt.Sprintf("recall %s: not found", what)
	case p.Pattern != "":
		return fmt.Sprintf("recall %s: %s", what, count(p.Matches, "line"))
	}
	return fmt.Sprintf("recall %s: %s", what, count(p.Chars, "character"))
}

// SummaryBegun is the payload of compact.summary_begun: a summary that is still
// being written after a while.
type SummaryBegun struct {
	SessionID   string `json:"session_id"`
	Model       string `json:"model,omitempty"` // model of the summarizer
	Backend     string `json:"backend"`
	Strategy    string `json:"strategy"`
	InputTokens int    `json:"tokens_before"` // tokens of the view that the summary will shorten

	OutputText string `json:"output_text"` // one line; written if empty
}

func (p SummaryBegun) spec() spec { return spec{NameSummaryBegun, KindBegun, StatusOK, ""} }

func (p SummaryBegun) complete() any {
	p.OutputText = or(p.OutputText, func() string { return "a summary is being written" })
	return p
}

// SummaryAttempt is the payload of compact.summary_attempt: a failed call of
// the summarizer after which the manager continued.
type SummaryAttempt struct {
	SessionID string `json:"session_id"`
	Model     string `json:"model,omitempty"` // model of the summarizer
	Backend   string `json:"backend"`
	Strategy  string `json:"strategy"`
	Attempt   int    `json:"attempt"` // from 1
	MaxTokens int    `json:"max_tokens"`
	Prompt    int    `json:"prompt_tokens,omitempty"`     // billed tokens
	Answer    int    `json:"completion_tokens,omitempty"` // billed tokens
	Action    string `json:"action"`                      // reaction: "retry in 2s", "brief"
	ErrorType string `json:"error_type"`
	Cause     string `json:"cause,omitempty"` // kind of the failure

	Message string `json:"message"`
}

func (p SummaryAttempt) spec() spec {
	return spec{NameSummaryAttempt, KindAttempt, StatusError, SeverityWarning}
}

func (p SummaryAttempt) complete() any {
	p.Message = or(p.Message, func() string { return p.ErrorType })
	return p
}
