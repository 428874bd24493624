package policy

// Bytes returns the size of the request in bytes. Providers limit it separately
// from the number of tokens. A message that was not decoded from a request
// counts the bytes of its content.
func (v *View) Bytes() int {
	n := v.Outside
	for i := range v.Messages {
		n += v.Messages[i].Bytes()
	}
	return n
}

// HasMedia reports whether any message of the view holds an image, audio or a
// file.
func (v *View) HasMedia() bool {
	for i := range v.Messages {
		if bearsMedia(&v.Messages[i]) {
			return true
		}
	}
	return false
}

// bytes returns the size in bytes that a step with this goal works for. InBytes
// concerns media that should stay if possible: it stops half way, but leaves
// the next calls room.
func (b Budget) bytes(g Goal) int {
	if g == InBytes {
		return b.TargetBytes + (b.MaxBytes-b.TargetBytes)/2
	}
	return b.TargetBytes
}

// OfTokensDone returns the budget of a compaction that is due only because of
// the request's bytes: a view within the cap needs no fewer tokens.
func (b Budget) OfTokensDone() Budget {
	b.Target, b.shrinkTo = b.Cap, 0
	return b
}

// reached returns a function that reports whether the step may stop at the
// given conversation.
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
