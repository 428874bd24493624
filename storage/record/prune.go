package record

import (
	"context"
	"errors"
	"fmt"
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
	// Age, if it is not 0, takes the place of Before: it selects the sessions whose last write
	// is that long ago. The clock of this machine can be wrong. If it is more than a day ahead
	// of the newest write in the archive, Prune counts from a day after that write; if it is
	// more than a day behind, Prune erases nothing and yields [ErrClock].
	Age time.Duration
	// TrustClock means that Age counts from the clock of this machine in any case.
	TrustClock bool
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
	// KeptClock means that only the clock of this machine says that the session is old
	// enough ([PruneOptions.Age]).
	KeptClock PruneOutcome = "kept, because only the clock of this machine says that it is old enough"
	// KeptUnknown means that the time of the session's last write is unknown.
	KeptUnknown PruneOutcome = "kept, because the time of its last write is unknown"
)

// ErrClock means that the clock of this machine is behind the times in the archive.
var ErrClock = errors.New("the clock of this machine is behind the newest write in the archive: one of the two is wrong")

// A PruneResult is the outcome for one session that is old enough.
type PruneResult struct {
	Session SessionInfo
	Outcome PruneOutcome
	Err     error // error for KeptFailed; also set if it is unknown whether there is a hold
	// KeptUntil is the end of the lock for KeptLocked; zero if unknown.
	KeptUntil time.Time
}

// Prune erases the sessions whose last write is before a time or longer ago than an age,
// and yields each with its outcome. The time of the last write is the later one of the
// times in the manifest and in the backend. A session whose last write is unknown is
// kept, and yielded. A failure does not stop Prune. An error of the listing itself is
// yielded last.
func Prune(ctx context.Context, a storage.Archive, opts PruneOptions) iter.Seq2[PruneResult, error] {
	return func(yield func(PruneResult, error) bool) {
		var all []SessionInfo // collected first, because a removal during a listing can have any effect on the listing
		for info, err := range Sessions(ctx, a) {
			if err != nil {
				yield(PruneResult{}, err)
				return
			}
			all = append(all, info)
		}
		claimed, err := opts.count(all, time.Now())
		if err != nil {
			yield(PruneResult{}, err)
			return
		}
		for _, info := range all {
			if !info.Modified.Before(claimed) {
				continue
			}
			r, ok := pruneOne(ctx, a, info, opts)
			if ok && !yield(r, nil) {
				return
			}
		}
	}
}

// newestOf returns the session with the newest write, among those whose last write is
// known.
func newestOf(all []SessionInfo) (newest SessionInfo) {
	for _, info := range all {
		if info.ours && info.Modified.After(newest.Modified) {
			newest = info
		}
	}
	return newest
}

// count sets Before from Age. It returns the time that Before would have if the clock of
// this machine were right; this time is never earlier than Before.
func (o *PruneOptions) count(all []SessionInfo, now time.Time) (claimed time.Time, err error) {
	if o.Age == 0 {
		return o.Before, nil
	}
	o.Before = now.Add(-o.Age)
	claimed = o.Before
	newest := newestOf(all)
	if o.TrustClock || newest.Modified.IsZero() {
		return claimed, nil
	}
	if newest.Modified.Sub(now) > maxSkew {
		err := fmt.Errorf("%w: it says %s, and %s was written to at %s", ErrClock, now.UTC().Format(time.RFC3339), newest.Dir, newest.Modified.UTC().Format(time.RFC3339))
		return claimed, &storage.Error{Op: "prune", Err: err}
	}
	if likely := newest.Modified.Add(maxSkew); likely.Before(now) {
		o.Before = likely.Add(-o.Age)
	}
	return claimed, nil
}

// pruneOne erases one session. It returns false if the session turns out to be
// newer.
func pruneOne(ctx context.Context, a storage.Archive, info SessionInfo, opts PruneOptions) (PruneResult, bool) {
	if info.Foreign() {
		return PruneResult{Session: info, Outcome: KeptForeign}, true
	}
	s, err := OpenDir(ctx, a, info.Dir)
	if err != nil {
		return PruneResult{Session: info, Outcome: KeptFailed, Err: err}, true
	}
	s.KeepHeads(opts.Heads)
	s.ActAs(opts.Who)
	s.KeepIndex(opts.Index)
	t, _ := s.manifest.known()
	switch {
	case info.Modified.IsZero():
		return PruneResult{Session: info, Outcome: KeptUnknown}, true
	case !info.Modified.Before(opts.Before):
		return PruneResult{Session: info, Outcome: KeptClock}, true
	case !t.facts.last.Before(opts.Before):
		return PruneResult{}, false
	case t.facts.hold.Held:
		return PruneResult{Session: info, Outcome: KeptHeld}, true
	case opts.DryRun:
		_, err := (&eraser{s: s}).list(ctx)
		return info.outcome(WouldPrune, err), true
	}
	e, err := s.condemn(ctx, opts.Before)
	if err == nil {
		_, err = e.erase(ctx, s.stone(opts.Reason.String(), opts.Who.String()))
	} else if errors.Is(err, storage.ErrDamaged) {
		_, err = s.eraseRest(ctx, err)
	}
	return info.outcome(Pruned, err), true
}

// outcome returns the result for a session: done, or what err says.
func (info SessionInfo) outcome(done PruneOutcome, err error) PruneResult {
	r := PruneResult{Session: info}
	locked := new(storage.LockedError)
	switch {
	case err == nil:
		r.Outcome = done
	case errors.Is(err, ErrHeld):
		r.Outcome = KeptHeld
	case errors.As(err, &locked):
		r.Outcome, r.KeptUntil = KeptLocked, locked.Until
	case errors.Is(err, storage.ErrLocked):
		r.Outcome = KeptLocked
	case errors.Is(err, errInUse):
		r.Outcome = KeptInUse
	default:
		r.Outcome, r.Err = KeptFailed, err
	}
	return r
}
