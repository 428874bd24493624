package trace

import "fmt"

// CallUsage is the payload of compact.usage: what the provider billed for one
// call. Measured figures are the provider's; estimated ones were counted before
// the call went out, and projected ones are of the whole history, which was not
// sent. Money is in US dollars, or in units of the model's input price where
// Relative is set.
type CallUsage struct {
	SessionID    string  `json:"session_id"`
	Agent        string  `json:"agent,omitempty"`
	Model        string  `json:"model"`
	Measured     int     `json:"prompt_tokens_measured"`
	Estimated    int     `json:"tokens_estimated"`   // of the same prompt, counted before
	ErrorPct     float64 `json:"estimate_error_pct"` // computed: by how much that is too high (+) or too low (-), in percent of what was measured
	Cached       int     `json:"cached_tokens_measured"`
	Written      int     `json:"written_tokens_measured"`
	Output       int     `json:"output_tokens_measured"`
	CacheKnown   bool    `json:"cache_measured"` // false: the provider says nothing of its cache, and the parts are estimated
	MeasuredUSD  float64 `json:"measured_usd"`   // prompt and answer
	EstimatedUSD float64 `json:"estimated_prompt_usd"`
	WholeUSD     float64 `json:"projected_whole_prompt_usd"`
	Relative     bool    `json:"prices_relative"`
	SessionCalls int     `json:"session_measured_calls"`
	SessionUSD   float64 `json:"session_measured_usd"`

	// Break is where this prompt stopped to be that of the call before, so that
	// nothing from there on could come from the cache; nil: it went on from it.
	Break *CacheBreak `json:"cache_break,omitempty"`

	OutputText string `json:"output_text"` // one line; written when empty
}

// A CacheBreak is the first message that another one stands in the place of.
type CacheBreak struct {
	Index  int    `json:"index"`  // in the view that was sent, from 0
	Role   string `json:"role"`   // of what stands there now
	Tokens int    `json:"tokens"` // of the prompt before, from there on
}

func (p CallUsage) spec() spec { return spec{NameCallUsage, KindUsage, StatusOK, ""} }

func (p CallUsage) complete() any {
	p.MeasuredUSD, p.EstimatedUSD, p.WholeUSD, p.SessionUSD = finite(p.MeasuredUSD), finite(p.EstimatedUSD), finite(p.WholeUSD), finite(p.SessionUSD)
	p.ErrorPct = -reduction(p.Measured, p.Estimated)
	p.OutputText = or(p.OutputText, func() string {
		unit := "$"
		if p.Relative {
			unit = "input prices "
		}
		return fmt.Sprintf("billed %d prompt tokens, %d of them cached, and %d of the answer: %s%.4f", p.Measured, p.Cached, p.Output, unit, p.MeasuredUSD)
	})
	return p
}
