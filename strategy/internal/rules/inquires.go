package rules

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// inquiries lists beginnings of questions.
var inquiries = []string{"can you", "could you", "can we", "could we", "would you", "will you", "what ", "what's ", "why ", "how ", "who ", "where ", "when will", "which ", "is ", "isn't ", "are ", "aren't ", "does ", "doesn't ", "do you", "do we", "do i ", "did ", "have you", "has ", "should i", "should we", "shall ", "am i "}

// Inquires reports whether a sentence asks for something, with or without a
// question mark.
func Inquires(low string) bool {
	low = strings.TrimRight(low, " \"'`)”’»")
	for _, w := range []string{"now ", "ok, ", "okay, ", "and "} {
		low = strings.TrimPrefix(low, w)
	}
	return strings.HasSuffix(low, "?") || strings.HasSuffix(low, "？") || prose.BeginsAny(low, inquiries)
}
