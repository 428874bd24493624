package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
)

// NewSpanID returns 16 random hex digits, never all zero. It is safe for
// concurrent use and costs well under a microsecond.
func NewSpanID() string { return randomHex(8) }

// NewTraceID returns 32 random hex digits, never all zero. It is safe for
// concurrent use.
func NewTraceID() string { return randomHex(16) }

// SessionTraceID returns the trace id of a whole session: the first 32 hex digits
// of a hash of the session's id, equal in every process.
func SessionTraceID(session string) string {
	sum := sha256.Sum256([]byte("compact session " + session))
	return hex.EncodeToString(sum[:16])
}

// randomHex returns 2n hex digits, n a multiple of 8. The generator is seeded
// by the operating system in each process; ids need to be distinct, not
// unguessable.
func randomHex(n int) string {
	b := make([]byte, 0, 16)
	for len(b) < n {
		v := rand.Uint64()
		if v == 0 {
			continue
		}
		for shift := 0; shift < 64; shift += 8 {
			b = append(b, byte(v>>shift))
		}
	}
	return hex.EncodeToString(b)
}
