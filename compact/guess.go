package compact

import (
	"fmt"

	"github.com/agentcompact/compact/token"
)

// guessed reports whether the window of a model is only the default, because neither
// the configuration nor the table has a window for the model.
func (c Config) guessed(model string) bool {
	configured := c.MaxContextTokens > 0 && (model == c.Model || model == "" || c.MaxContextTokens <= token.DefaultContextWindow)
	return !configured && !token.KnowsContextWindow(model)
}

// sayGuess warns, once for each model, that its window is a guess. A plan
// always warns, and does not use up the warning.
func (c *call) sayGuess() {
	name := c.ep.model.name
	if c.q.window > 0 || !c.m.cfg.guessed(name) || !c.q.dry && !c.m.sayOnce(name) {
		return
	}
	why := fmt.Sprintf("the window of model %q is not known", name)
	if name == "" {
		why = "no model is named, so its window is not known"
	}
	c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(fmt.Sprintf("%s: %d tokens are a guess; set %s", why, c.ep.window, c.m.cfg.windowSetting(name))).String())
}

// windowSetting names the settings for the window of a model: max_context_tokens is
// valid only for the configured model.
func (c Config) windowSetting(model string) string {
	if c.MaxContextTokens > 0 && model != c.Model {
		return "model to it and max_context_tokens to its window (--model, --max-context-tokens)"
	}
	if model == "" {
		return "model (--model), or max_context_tokens (--max-context-tokens)"
	}
	return "max_context_tokens (--max-context-tokens)"
}

// sayOnce reports whether this is the first warning with a key.
func (m *CompactManager) sayOnce(model string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.said[model] {
		return false
	}
	if len(m.said) >= maxEpochs || m.said == nil {
		m.said = map[string]bool{} // requests can name any model
	}
	m.said[model] = true
	return true
}
