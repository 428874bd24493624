package strategy

import (
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// accepts matches a sentence that accepts a value: "85 is fine for my laptop.".
var accepts = lazy.Compile(`^(?:ok,? |okay,? |yes,? )?(\d+(?:[.,]\d+)?)(?: [\p{L}%]+)? (?:(?:is|are|would be|will be|ist)(?: also| still| auch| just)? (?:fine|ok|okay|enough|good|alright|in ordnung|genug)|reicht|reichen|suffit|suffisent|basta|bastan)\b`)

// acceptedValue returns the value that a sentence of the user accepts, with the unit that
// the assistant named before: "85 W" if the user accepts "85" after "it delivers 85 W". It
// returns "" for other sentences.
func (h *History) acceptedValue(i int, t string) string {
	m := accepts.FindStringSubmatch(strings.ToLower(t))
	if m == nil || i == 0 || h.Steps[i-1].Role != message.RoleAssistant {
		return ""
	}
	words := strings.Fields(h.Steps[i-1].Text)
	for k, w := range words {
		w = strings.Trim(w, ".,;:!?()")
		value := w[:len(w)-len(strings.TrimLeft(w, "0123456789.,"))]
		unit := w[len(value):]
		if value != m[1] {
			continue
		}
		if unit == "" && k+1 < len(words) {
			unit = strings.Trim(words[k+1], ".,;:!?()")
		}
		if unit != "" {
			return value + " " + unit
		}
	}
	return ""
}
