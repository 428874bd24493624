package tidy

import "strings"

// head begins the first line of a result of which something was left out.
const head = "[tidied"

// IsReduced reports whether a text is one that a reducer made: its first line is
// ours.
func IsReduced(text string) bool {
	first, _, ok := strings.Cut(text, "\n")
	return ok && strings.HasPrefix(first, head) && strings.HasSuffix(first, "]")
}

// Render returns the text of what was reduced, with a first line that says what
// was left out and what it is had back by.
func (r *Reduced) Render(text, ref string) string {
	body := render(text, r.Segments)
	if r.What == "" {
		return body
	}
	return head + " — " + r.What + " · recall " + ref + "]\n" + body
}
