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
// first count is not slower. It does nothing if the vocabulary is unpacked
// already or if the counter needs none.
func Load(c Counter) {
	if l, ok := c.(interface{ Load() }); ok {
		l.Load()
	}
}
