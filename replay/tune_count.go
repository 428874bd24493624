package replay

import "github.com/agentcompact/compact/token"

// knownTexts is a counter with the counts of all texts of the sessions, because the
// views of a setting consist almost only of these texts.
type knownTexts struct {
	token.Counter
	tokens map[string]int
}

func countTexts(c token.Counter, sessions []*Session) knownTexts {
	out := knownTexts{c, map[string]int{}}
	for _, s := range sessions {
		for i := range s.Messages {
			said(&s.Messages[i], func(text string) {
				if _, known := out.tokens[text]; !known {
					out.tokens[text] = c.Count(text)
				}
			})
		}
	}
	return out
}

// Count implements [token.Counter].
func (c knownTexts) Count(text string) int {
	if n, ok := c.tokens[text]; ok {
		return n
	}
	return c.Counter.Count(text)
}
