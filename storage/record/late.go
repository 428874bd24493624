package record

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/storage"
)

// doubtful is the longest time from the announcement of a ledger to its commit for
// which the commit need not check the manifest again. It is much shorter than a
// scrub's wait for the ledger ([commonly]), because clocks differ.
const doubtful = commonly / 3

// late reports whether the announcement r is old.
func (r record) late() bool { return elapsed(r.At) > doubtful }

// stepKey is the key of the announcement of a step in a context.
type stepKey struct{}

// besideStep returns the context for data that is stored while a step is announced and
// not yet committed.
func besideStep(ctx context.Context, announced record) context.Context {
	return context.WithValue(ctx, stepKey{}, announced)
}

// appendBeside appends to a log. Within a step it appends to the audit log without the
// check whether that log was removed ([storage.Deferrer]). No scrub is recorded while
// a step is announced and its ledger is missing ([scrubPlan.begun]). The check of the
// manifest at the end of the step finds an erase; then [Session.settleManifest] removes the
// lines.
func (s *Session) appendBeside(ctx context.Context, c *chain, build func(facts) ([]string, error)) (tail, error) {
	announced, ok := ctx.Value(stepKey{}).(record)
	if !ok || c != s.events || announced.late() {
		return c.append(ctx, build)
	}
	t, err := c.appendUnseen(ctx, build)
	// The request may have taken so long that a scrub did not wait. For a new log the check
	// costs no request, because there is no earlier segment. It is made so that the check of
	// the next lines begins after this append.
	if err == nil && (announced.late() || t.from == 0) {
		if err = c.settle(ctx); errors.Is(err, storage.ErrSeq) {
			err = &storage.Error{Op: "append", Key: c.key, Err: errStrange}
		}
	}
	return t, err
}

// standing reports the state of the session after a ledger was stored. nil means that
// a later erase or scrub finds the ledger. If the session was erased, the ledger is
// removed ([Session.withdraw]). After an error of the archive the state is unknown.
// The manifest is read from its beginning, because an erased session may have begun
// again with a manifest of the same length.
func (s *Session) standing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	known, _ := s.manifest.known()
	now, err := newChain(s.a, s.manifest.key, true).refresh(ctx)
	switch {
	case err != nil:
		return err
	case now.facts.erasing, now.first != known.first:
		_, err := s.withdraw(ctx)
		return errors.Join(&storage.Error{Op: "commit", Key: s.dir, Err: ErrErased}, err)
	case now.facts.scrub != nil, !s.knowsAll(now.facts):
		return &storage.Error{Op: "commit", Key: s.dir, Err: ErrScrubbed}
	}
	return nil
}
