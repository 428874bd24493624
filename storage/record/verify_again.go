package record

import (
	"context"

	"github.com/agentcompact/compact/storage"
)

// verifyAttempts limits how often a verification starts over because the session was
// scrubbed or erased while it was read. Each repetition means another scrub or erase.
const verifyAttempts = 8

// verifyAgain verifies until no scrub or erase can be the reason for a problem: while
// a process puts a file in place, the file is missing for a moment, and then has
// another hash.
func verifyAgain(ctx context.Context, a storage.Archive, dir storage.Key, opts VerifyOptions) (Report, error) {
	w := watchOver(a, dir)
	for attempt := 1; ; attempt++ {
		r, err := verifyOnce(ctx, a, dir, opts, w.look(ctx).facts)
		if err != nil || r.OK() {
			return r, err
		}
		overtaken, err := w.overtaken(ctx)
		if err != nil || !overtaken {
			return r, err
		}
		if attempt == verifyAttempts {
			r.Notes = append(r.Notes, "it was scrubbed or erased during each reading, which can cause such problems: verify it again")
			return r, nil
		}
	}
}
