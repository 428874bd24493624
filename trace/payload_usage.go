package trace

import "fmt"

// CallUsage is the payload of compact.usage: the tokens that the provider billed for
// one call. Measured figures are the provider's. Estimated figures were counted before
// the call. Projected figures are for the whole history, which was not sent. Money is
// in US dollars, or in units of the model's input price if Relative is set.
type CallUsage struct {
	SessionID string `json:"session_id"`
	Agent     string `json:"agent,omitempty"`
	Model     string `json:"model"`
	Measured  int    `json:"prompt_tokens_measured"`
	Estimated int    `json:"tokens_estimated"` // estimated tokens of the same prompt; 0 = the call failed and its request was sent unchanged, so there is no estimate of tokens or costs
	// computed: error of the estimate in percent of the tokens that the provider received, positive
	// if too high; 0 without an estimate, and if the provider made a summary of its own or ran its
	// own tools, because it then does not report this number
	ErrorPct     float64 `json:"estimate_error_pct"`
	Cached       int     `json:"cached_tokens_measured"`
	Written      int     `json:"written_tokens_measured"`
	Output       int     `json:"output_tokens_measured"`
	Cleared      int     `json:"cleared_tokens_measured,omitempty"`   // tokens that the provider removed from the prompt, and did not bill
	Compacted    int     `json:"compacted_tokens_measured,omitempty"` // part of Measured that the provider read for its own summary
	ToolRounds   bool    `json:"tool_rounds,omitempty"`               // the provider ran its own tools: the figures cover several prompts, of which Estimated is the first
	CacheKnown   bool    `json:"cache_measured"`                      // false: the provider does not report its cache, and the parts are estimated
	MeasuredUSD  float64 `json:"measured_usd"`                        // prompt and answer
	EstimatedUSD float64 `json:"estimated_prompt_usd"`
	WholeUSD     float64 `json:"projected_whole_prompt_usd"`
	Relative     bool    `json:"prices_relative"`
	SessionCalls int     `json:"session_measured_calls"`
	SessionUSD   float64 `json:"session_measured_usd"`

	// Break is the first difference from the prompt of the previous call; the
	// provider's cache can't serve anything from there on. nil: the prompt
	// extends the previous one.
	Break *CacheBreak `json:"cache_break,omitempty"`

	OutputText string `json:"output_text"` // one line; written if empty
}

// A CacheBreak is the first message that differs from the previous prompt.
type CacheBreak struct {
	Index  int    `json:"index"`  // index in the sent view, from 0
	Role   string `json:"role"`   // role of the message at this index
	Tokens int    `json:"tokens"` // tokens of the previous prompt from this index on
}

func (p CallUsage) spec() spec { return spec{NameCallUsage, KindUsage, StatusOK, ""} }

func (p CallUsage) complete() any {
	p.MeasuredUSD, p.EstimatedUSD, p.WholeUSD, p.SessionUSD = finite(p.MeasuredUSD), finite(p.EstimatedUSD), finite(p.WholeUSD), finite(p.SessionUSD)
	if p.ErrorPct = 0; p.Estimated > 0 && p.Compacted == 0 && !p.ToolRounds {
		p.ErrorPct = 0 - reduction(p.Measured+p.Cleared, p.Estimated) // 0, not -0, if they are equal
	}
	p.OutputText = or(p.OutputText, func() string {
		known, rounds := "of them cached", ""
		if p.ToolRounds {
			rounds = " in rounds of the provider's own tools"
		}
		if !p.CacheKnown {
			known = "of them cached according to our estimate"
		}
		return fmt.Sprintf("billed %d prompt tokens"+rounds+", %d %s, and %d tokens of the answer: %s", p.Measured, p.Cached, known, p.Output, money(p.MeasuredUSD, p.Relative))
	})
	return p
}
