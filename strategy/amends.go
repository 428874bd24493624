package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// admissions lists phrases with which an assistant admits that an earlier statement or
// action of its own was wrong.
var admissions = []string{"i apologize", "my apologies", "my mistake", "my bad", "you're right", "you are right", "you’re right", "i was wrong", "i was mistaken", "i stand corrected", "good catch", "sorry for the confusion", "sorry about that", "sorry for that"}

// correcting wraps f, which gets the sentences of a message. It sets b.amends for the
// sentence after an admission. That sentence is worth more, because it states the correction.
func (b *quoting) correcting(f func(one prose.Sentence)) func(one prose.Sentence) {
	return func(one prose.Sentence) {
		f(one)
		b.amends = !one.Heading && prose.HasAny(strings.ToLower(one.Text), admissions)
	}
}
