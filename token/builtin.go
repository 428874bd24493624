package token

import "github.com/agentcompact/compact/token/internal/bpe"

// builtin returns the counter of a built-in encoding, or nil.
func builtin(name string) Counter {
	switch name {
	case CL100K:
		return exact{bpe.CL100K}
	case O200K, "o200k_harmony":
		return exact{bpe.O200K}
	}
	return nil
}

// exact is a counter by byte-pair encoding.
type exact struct{ *bpe.Encoding }

// Load unpacks the vocabulary of a counter (about ten milliseconds), so that the
// first count does not have to. It does nothing if that is done already or if the
// counter needs no vocabulary.
func Load(c Counter) {
	if l, ok := c.(interface{ Load() }); ok {
		l.Load()
	}
}
