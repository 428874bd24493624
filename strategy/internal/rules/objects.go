package rules

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// objecting lists beginnings of messages in which users reject a statement or an action of
// the assistant.
var objecting = []string{"no", "nope", "nah", "don't", "dont", "do not", "stop", "wrong", "that's wrong", "that is wrong", "that's not", "that is not", "this is not", "this isn't", "that isn't", "thats not", "not what", "i don't want", "i do not want", "i didn't ask",
	"actually", "instead", "undo", "revert", "please undo", "please revert", "why did you", "you should not", "you shouldn't", "you misunderstood", "let's not", "hold on", "wait", "i'd rather", "i would rather", "scratch that", "forget", "i meant", "i mean ", "sorry, i meant", "ignore ", "不", "别", "错"}

// harmless lists beginnings of messages that only look like objections.
var harmless = []string{"no problem", "no worries", "no need to thank", "no rush", "don't worry", "do not worry", "don't forget", "do not forget", "no other", "no further", "no more questions", "不错", "不客气"}

// Objects reports whether a message of the user begins with an objection.
func Objects(text string) bool {
	low := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), "’", "'")
	for _, o := range objecting {
		if prose.BeginsWord(low, o) || o[0] >= 0x80 && strings.HasPrefix(low, o) {
			return !prose.BeginsAny(low, harmless)
		}
	}
	return false
}
