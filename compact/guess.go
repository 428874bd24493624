package compact

import (
	"fmt"

	"github.com/agentcompact/compact/token"
)

// guessed reports whether the window of a model is the default one: neither
// the configuration nor the table knows it.
func (c Config) guessed(model string) bool {
	configured := c.MaxContextTokens > 0 && (model == c.Model || model == "" || c.MaxContextTokens <= token.DefaultContextWindow)
	return !configured && !token.KnowsContextWindow(model)
}

// sayGuess says once a model that its window is a guess. A plan always does,
// and uses nothing up.
func (c *call) sayGuess() {
	name := c.ep.model.name
	if c.q.window > 0 || !c.m.cfg.guessed(name) || !c.q.dry && !c.m.sayOnce(name) {
		return
	}
	c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(fmt.Sprintf(
		"the window of model %q is not known: %d tokens are a guess; set %s", name, c.ep.window, c.m.cfg.windowSetting(name))).String())
}

// windowSetting names what says how large the window of a model is: max_context_tokens
// is that of the model which is configured.
func (c Config) windowSetting(model string) string {
	if c.MaxContextTokens > 0 && model != c.Model {
		return "model to it and max_context_tokens to its window (--model, --max-context-tokens)"
	}
	return "max_context_tokens (--max-context-tokens)"
}

// sayOnce reports whether nothing was said of a model yet.
func (m *CompactManager) sayOnce(model string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.said[model] {
		return false
	}
	if len(m.said) >= maxEpochs || m.said == nil {
		m.said = map[string]bool{} // anybody may name any
	}
	m.said[model] = true
	return true
}
