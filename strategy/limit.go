package strategy

import "github.com/agentcompact/compact/policy"

// A limit that nobody set is a share of what the view is to cost: what stands
// for more of a session may say more.
const (
	growShare = 20   // the limit is the target through this
	growMost  = 8000 // tokens
)

// most returns what the body of a summary may cost at most: what is set, or a
// share of the target, of which a summarizing model with a small window gets
// no more than a quarter of it.
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

// writer returns the one for a view.
func (s *Stage) writer(c *cut) Writer {
	w := s.w
	w.MaxTokens = max(c.limit, 1)
	return w
}
