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

// OfTokensDone returns the budget of a compaction that is due only because of the size
// of the request in bytes. Its target is the cap, because a view within the cap has no need
// to lose tokens.
func (b Budget) OfTokensDone() Budget {
	b.Target, b.shrinkTo = b.Cap, 0
	return b
}
