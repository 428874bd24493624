package storage

import (
	"context"
	"errors"
	"time"
)

// doubtful is how long a ledger may take from its announcement until its commit looks at
// the manifest again. It is much less than what a scrub waits for it ([commonly]), for
// clocks are apart.
const doubtful = commonly / 3

// late reports whether what r announces took long. A process that was suspended knows
// that by the clock on the wall alone.
func (r record) late() bool {
	now := time.Now()
	return max(now.Sub(r.At), now.Round(0).Sub(r.At.Round(0))) > doubtful
}

// standing reports what became of the session while a ledger was on its way: nil says
// that whoever erases or scrubs it from now on finds the ledger. Where the session was
// erased the ledger is removed ([Session.withdraw]). An error of the archive says that
// nobody knows. The manifest is read from its beginning: a session that was erased may
// have begun anew, with a manifest that is as long.
func (s *Session) standing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	known, _ := s.manifest.known()
	now, err := newChain(s.a, s.manifest.key, true).refresh(ctx)
	switch {
	case err != nil:
		return err
	case now.facts.erasing, now.first != known.first:
		return errors.Join(&Error{"commit", s.dir, ErrErased}, s.withdraw(ctx))
	case now.facts.scrub != nil, !s.knowsAll(now.facts):
		return &Error{"commit", s.dir, ErrScrubbed}
	}
	return nil
}
