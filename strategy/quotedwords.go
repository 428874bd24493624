package strategy

import "github.com/agentcompact/compact/strategy/internal/rules"

// ruleText returns the text of a step that may set rules.
func (h *History) ruleText(s *Step) string {
	if s.user() {
		return rules.OwnWords(s.Text)
	}
	return s.Text
}
