package rules

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// objecting lists beginnings of messages in which users reject a statement or an action of
// the assistant.
var objecting = []string{"no", "nope", "nah", "don't", "dont", "do not", "stop", "wrong", "that's wrong", "that is wrong", "that's not", "that is not", "this is not", "this isn't", "that isn't", "thats not", "not what", "i don't want", "i do not want", "i didn't ask",
	"actually", "instead", "undo", "revert", "please undo", "please revert", "why did you", "you should not", "you shouldn't", "you misunderstood", "let's not", "hold on", "wait", "i'd rather", "i would rather", "scratch that", "forget", "i meant", "i mean ", "sorry, i meant", "ignore ",
	"check that,", "check that again", "check it again", "read it again", "read that again", "look again", "look closer", "are you sure", "that can't be", "that cannot be", "can't be", "not true", "but i said", "i said", "i told you", "you forgot", "you missed", "you broke", "you were supposed", "too good to be",
	"nein", "nee", "falsch", "stimmt nicht", "das stimmt nicht", "non", "mais non", "faux", "ce n'est pas", "eso no", "está mal", "不", "别", "错"}

// harmless lists beginnings of messages that only look like objections.
var harmless = []string{"no problem", "no worries", "no need to thank", "no rush", "don't worry", "do not worry", "don't forget", "do not forget", "no other", "no further", "no more questions", "non-", "are you sure you don't need", "不错", "不客气"}

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

// mostDepending is the maximum number of words of a rule that another sentence must explain.
const mostDepending = 9

// pointing matches words of a lower-case rule that refer to a thing without naming it.
// pointsAway lists beginnings of rules in which such a word needs no explanation.
var (
	pointing   = lazy.Compile(`\b(?:it|them|this (?:case|batch|one|time|once)|that one|those|these)\b`)
	pointsAway = []string{"keep it ", "make it ", "it is ", "it's ", "if it ", "call it ", "leave it to "}
)

// Depends reports whether a short rule names its object only by a word such as "it", so that
// the sentence before must be quoted with it: "You may use it for this batch only.".
func Depends(t string) bool {
	low := strings.ToLower(t)
	return len(strings.Fields(low)) <= mostDepending && pointing.MatchString(low) && !strings.ContainsAny(t, "`/_") && !prose.BeginsAny(low, pointsAway)
}

// leastExplaining is the least number of words of a sentence that explains the rule after it.
const leastExplaining = 4

// Explains reports whether a sentence can name the object to which the rule after it
// refers. A supposition cannot.
func Explains(t string) bool {
	low := strings.ToLower(t)
	return len(strings.Fields(low)) >= leastExplaining && !prose.BeginsAny(low, supposing) && !prose.BeginsAny(low, considering)
}
