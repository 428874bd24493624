package tidy

import (
	"strings"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/policy"
)

// head is the start of the first line of a result from which parts were left out.
const head = "[tidied"

// IsReduced reports whether text is a result from which a reducer left out parts. It
// recognizes the first line.
func IsReduced(text string) bool {
	const longest = 300 // length of that line in bytes
	if !strings.HasPrefix(text, head+" — ") {
		return false
	}
	first, _, _ := strings.Cut(text[:min(len(text), longest)], "\n")
	return strings.HasSuffix(first, "]") && strings.Contains(first, " · ~")
}

// Render returns the text of a reduced result in the form that the stage uses if the
// model can recall references.
func (r *Reduced) Render(text string, tokens int, ref string) string {
	of, _ := policy.Forms{}.Text(policy.Mark{Form: formname.TidiedRecall, Tokens: tokens, Ref: ref})
	if r.What == "" {
		return render(text, r.Segments)
	}
	return head + " — " + r.What + of + render(text, r.Segments)
}
