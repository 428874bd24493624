package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// proposedHeads lists words of headings above text that is only considered.
var proposedHeads = []string{"proposed", "proposal", "proposals", "idea", "ideas", "to evaluate", "to consider", "to discuss", "open questions", "nice to have", "vorschlag", "vorschläge", "idee", "ideen"}

// proposed reports whether the text below a heading, or the list, is only considered.
func (l *listHead) proposed() bool {
	return prose.HasAnyWord(strings.ToLower(l.heading), proposedHeads) || prose.HasAnyWord(strings.ToLower(l.lead), proposedHeads)
}
