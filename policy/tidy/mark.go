package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// head begins the first line of a result of which something was left out.
const head = "[tidied"

// IsReduced reports whether a text is one of which a reducer left something out:
// its first line is ours.
func IsReduced(text string) bool {
	const longest = 300 // bytes of that line
	if !strings.HasPrefix(text, head+" — ") {
		return false
	}
	first, _, _ := strings.Cut(text[:min(len(text), longest)], "\n")
	return strings.HasSuffix(first, "]") && strings.Contains(first, " · ~")
}

// Render returns the text of what was reduced, as the stage writes it where the
// model can ask for what a reference names.
func (r *Reduced) Render(text string, tokens int, ref string) string {
	of, _ := policy.Forms{}.Render(policy.Mark{Form: policy.FormTidiedRecall, Tokens: tokens, Ref: ref}, policy.Answered{})
	if r.What == "" {
		return render(text, r.Segments)
	}
	return head + " — " + r.What + of + render(text, r.Segments)
}
