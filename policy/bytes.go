package policy

// Bytes returns how large the request is with the view, in bytes: what providers refuse
// beside what is too long in tokens. Of messages that came from no wire it is what
// they hold.
func (v *View) Bytes() int {
	n := v.Outside
	for i := range v.Messages {
		n += v.Messages[i].Bytes()
	}
	return n
}

// HasMedia reports whether a message of the view has a picture, a sound or a file.
func (v *View) HasMedia() bool {
	for i := range v.Messages {
		if bearsMedia(&v.Messages[i]) {
			return true
		}
	}
	return false
}

// bytes is what a step with this goal works for. What stays if it can goes half way
// only, so that the next calls have room.
func (b Budget) bytes(g Goal) int {
	if g == InBytes {
		return b.TargetBytes + (b.MaxBytes-b.TargetBytes)/2
	}
	return b.TargetBytes
}

// OfTokensDone returns the budget of a compaction that is due for the bytes alone: a
// view that costs no more tokens than the cap is as it should be.
func (b Budget) OfTokensDone() Budget {
	b.Target, b.shrinkTo = b.Cap, 0
	return b
}

// reached says of what edits lead to whether the step may stop there.
func (s Step) reached(o *Outcome, goal int) func(*Conversation) bool {
	if s.Goal == ToBytes || s.Goal == InBytes {
		most := o.View.Budget.bytes(s.Goal)
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
