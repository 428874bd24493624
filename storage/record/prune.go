package record

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// PruneOptions configures [Prune].
type PruneOptions struct {
	// Before selects the sessions whose last write is before this time; the
	// zero time selects none.
	Before time.Time
	// DryRun means that nothing is removed.
	DryRun bool
	// Reason and Who are kept in the tombstones.
	Reason, Who redact.Text
	// Heads, if not nil, records the removals.
	Heads *Heads
	// Index, if not nil, drops the removed sessions ([Session.KeepIndex]).
	Index TextIndex
}

// A PruneOutcome is the outcome for a session that is old enough.
type PruneOutcome string

// The outcomes of pruning.
const (
	Pruned     PruneOutcome = "pruned"
	WouldPrune PruneOutcome = "would be pruned"
	KeptHeld   PruneOutcome = "under a legal hold"
	KeptLocked PruneOutcome = "kept by a lock" // a lock of the archive's storage, such as Object Lock
	KeptInUse  PruneOutcome = "written to in the meantime"
	KeptFailed PruneOutcome = "failed"
	// KeptForeign means that the folder has none of the files of a session.
	KeptForeign PruneOutcome = "kept, because it is not a session"
	// KeptUnknown means that the time of the session's last write is unknown.
	KeptUnknown PruneOutcome = "kept, for nobody knows when it was last written to"
)

// A PruneResult is the outcome for one session that is old enough.
type PruneResult struct {
	Session SessionInfo
	Outcome PruneOutcome
	Err     error // error for KeptFailed; also set if it is unknown whether there is a hold
}

// Prune erases the sessions whose last write, by the later of manifest and
// backend, is before a time, and yields each with its outcome. A session whose
// last write is unknown is kept, and yielded. A failure does not stop Prune. An
// error of the listing itself is yielded last.
func Prune(ctx context.Context, a storage.Archive, opts PruneOptions) iter.Seq2[PruneResult, error] {
	return func(yield func(PruneResult, error) bool) {
		var old []SessionInfo // collected first, because a removal during a listing can have any effect on the listing
		for info, err := range Sessions(ctx, a) {
			if err != nil {
				yield(PruneResult{}, err)
				return
			}
			if info.Modified.Before(opts.Before) {
				old = append(old, info)
			}
		}
		for _, info := range old {
			r, ok := pruneOne(ctx, a, info, opts)
			if ok && !yield(r, nil) {
				return
			}
		}
	}
}

// pruneOne erases one session. It returns false if the session turns out to be
// newer.
func pruneOne(ctx context.Context, a storage.Archive, info SessionInfo, opts PruneOptions) (PruneResult, bool) {
	if info.Foreign() {
		return PruneResult{info, KeptForeign, nil}, true
	}
	s, err := OpenDir(ctx, a, info.Dir)
	if err != nil {
		return PruneResult{info, KeptFailed, err}, true
	}
	s.KeepHeads(opts.Heads)
	s.ActAs(opts.Who)
	s.KeepIndex(opts.Index)
	t, _ := s.manifest.known()
	switch {
	case info.Modified.IsZero():
		return PruneResult{info, KeptUnknown, nil}, true
	case !t.facts.last.Before(opts.Before):
		return PruneResult{}, false
	case t.facts.hold.Held:
		return PruneResult{info, KeptHeld, nil}, true
	case opts.DryRun:
		return PruneResult{info, WouldPrune, nil}, true
	}
	e, err := s.condemn(ctx, opts.Before)
	if err == nil {
		_, err = e.erase(ctx, s.stone(opts.Reason.String(), opts.Who.String()))
	} else if errors.Is(err, storage.ErrDamaged) {
		_, err = s.eraseRest(ctx, err)
	}
	switch {
	case err == nil:
		return PruneResult{info, Pruned, nil}, true
	case errors.Is(err, ErrHeld):
		return PruneResult{info, KeptHeld, nil}, true
	case errors.Is(err, storage.ErrLocked):
		return PruneResult{info, KeptLocked, nil}, true
	case errors.Is(err, errInUse):
		return PruneResult{info, KeptInUse, nil}, true
	}
	return PruneResult{info, KeptFailed, err}, true
}
