package strategy

import "strings"

// admissions lists phrases with which an assistant admits that what it had said or done is
// wrong.
var admissions = []string{"i apologize", "my apologies", "my mistake", "my bad", "you're right", "you are right", "you’re right", "i was wrong", "i was mistaken", "i stand corrected", "good catch", "sorry for the confusion", "sorry about that", "sorry for that"}

// correcting returns f for the sentences of a message, of which the one after an admission
// is worth more: it says what is right.
func (b *quoting) correcting(f func(one sentence)) func(one sentence) {
	return func(one sentence) {
		f(one)
		b.amends = !one.heading && hasAny(strings.ToLower(one.text), admissions)
	}
}
