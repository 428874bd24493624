package summarize

import "github.com/agentcompact/compact/policy"

// Without a configured limit, the limit is a share of the view's target, so that the
// summary of a longer history may be longer.
const (
	growShare = 20   // the limit is target/growShare
	growMost  = 8000 // tokens
)

// most returns the maximum tokens of a summary's body: the configured limit, or
// a share of the target. The share is at most a quarter of the summarizing
// model's window, and at least DefaultMaxTokens.
func (s *Stage) most(v *policy.View) int {
	if !s.grows {
		return s.w.MaxTokens
	}
	most := min(v.Budget.Target/growShare, growMost)
	if window := describe(s.w.Summarizer).Window; window > 0 {
		most = min(most, window/4)
	}
	return max(most, DefaultMaxTokens)
}

// writer returns the Writer for a cut.
func (s *Stage) writer(c *cut) Writer {
	w := s.w
	w.MaxTokens = max(c.limit, 1)
	return w
}
