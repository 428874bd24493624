package reduce

import "github.com/agentcompact/compact/policy"

// bytesOf returns the size in bytes at which a step with this goal stops. A step with
// the goal InBytes works on media that should stay if possible. It stops half way
// between the target and the maximum, which still leaves room for the next calls.
func bytesOf(b policy.Budget, g policy.Goal) int {
	if g == InBytes {
		return b.TargetBytes + (b.MaxBytes-b.TargetBytes)/2
	}
	return b.TargetBytes
}

// reached returns a function that reports whether the step may stop at the
// given conversation.
func (s Step) reached(o *Outcome, goal int) func(*Conversation) bool {
	if s.Goal == ToBytes || s.Goal == InBytes {
		most := bytesOf(o.View.Budget, s.Goal)
		return func(c *Conversation) bool {
			n := o.View.Outside
			for k := range c.items.len() {
				n += c.items.at(k).m.Bytes()
			}
			return n <= most
		}
	}
	total := o.View.Total()
	return func(c *Conversation) bool { return total-freed(o, c) <= goal }
}
