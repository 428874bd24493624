package record

import (
	"context"
	"time"
)

// An Act is an operation on a session as its manifest records it: "commit" of a step,
// "hold", "release", "scrub", or "erase" (an erasure that has begun).
type Act struct {
	Op   string    `json:"op"`
	At   time.Time `json:"at"`
	Step int       `json:"step,omitempty"` // of a commit
	Who  string    `json:"who,omitempty"`  // who requested it ([Session.ActAs])
	Why  string    `json:"why,omitempty"`
}

// Acts returns the operations on the session, the oldest first. A commit is recorded
// before it takes effect, so the last one may have no ledger. A changed line is left out;
// [Session.Verify] names it.
func (s *Session) Acts(ctx context.Context) (acts []Act, err error) {
	erasing := false
	for l, err := range checkedLines(ctx, s.manifest, 0) {
		if err != nil {
			return nil, err
		}
		r, ok := parseRecord(l.Body)
		if !ok || l.Changed {
			continue
		}
		switch r.Op {
		case opCommit, opHold, opRelease, opScrub, opErase:
			if r.Op == opErase && erasing {
				continue // the line renews the turn of the first erase
			}
			erasing = r.Op == opErase
			acts = append(acts, Act{Op: r.Op, At: r.At, Step: r.Step, Who: r.Who, Why: r.Reason})
		}
	}
	return acts, nil
}
