package strategy

import "github.com/agentcompact/compact/strategy/internal/rules"

// wentBy reports whether the request in step i is done: the assistant ended its turn after
// it, and the user then wrote a message that is not an objection.
func (h *History) wentBy(i int) bool {
	ended := false
	for k := i + 1; k < len(h.Steps); k++ {
		if s := &h.Steps[k]; ended && s.user() && s.Text != "" && !rules.Objects(s.Text) {
			return true
		}
		ended = ended || h.endsTurn(k)
	}
	return false
}
