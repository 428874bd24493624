package token

import "github.com/agentcompact/compact/token/internal/bpe"

// builtin returns the counter of an encoding that this package counts itself,
// or nil.
func builtin(name string) Counter {
	switch name {
	case CL100K:
		return exact{bpe.CL100K}
	case O200K, "o200k_harmony":
		return exact{bpe.O200K}
	}
	return nil
}

// exact counts as byte-pair encoding does.
type exact struct{ *bpe.Encoding }

// Load unpacks the vocabulary that a counter needs (about ten milliseconds), so
// that the first count does not have to. It does nothing the second time, and
// for counters that need none.
func Load(c Counter) {
	if l, ok := c.(interface{ Load() }); ok {
		l.Load()
	}
}
