package compact

import "github.com/agentcompact/compact/token"

// ModelWindow returns what is known of a model's window, in tokens, whatever is
// configured; where nothing is known of it, what is configured, or else a guess.
// "" is the configured model.
func (m *CompactManager) ModelWindow(model string) int {
	if model == "" {
		model = m.cfg.Model
	}
	if m.cfg.MaxContextTokens > 0 && !token.KnowsContextWindow(model) {
		return m.cfg.MaxContextTokens
	}
	return token.ContextWindow(model)
}
