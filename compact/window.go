package compact

import "github.com/agentcompact/compact/token"

// ModelWindow returns the published window of a model, in tokens, even if
// another one is configured. For an unknown model it returns the configured
// window, else a default. "" is the configured model.
func (m *CompactManager) ModelWindow(model string) int {
	if model == "" {
		model = m.cfg.Model
	}
	if m.cfg.MaxContextTokens > 0 && !token.KnowsContextWindow(model) {
		return m.cfg.MaxContextTokens
	}
	return token.ContextWindow(model)
}
