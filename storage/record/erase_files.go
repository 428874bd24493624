package record

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/agentcompact/compact/storage"
)

// eraser removes the files of a condemned session. Only one process does so at a time.
type eraser struct {
	s     *Session
	r     storage.Remover
	files []storage.Info // in the order of removal
	last  bool           // the manifest was removed, or may have been removed
	past  holder         // process whose turn is known to be over
	turn
}

// condemn records that the session is being removed. It returns an error if a hold or a
// lock keeps the session, and if the last record is not older than the time before; the zero time
// omits that check. While another process erases the session, condemn waits. If that
// process finishes, the error is [ErrErased]. If its turn ends first, condemn continues.
func (s *Session) condemn(ctx context.Context, before time.Time) (*eraser, error) {
	remover, ok := s.a.(storage.Remover)
	if !ok {
		return nil, &storage.Error{Op: "erase", Key: s.dir, Err: storage.ErrUnsupported}
	}
	e := &eraser{s: s, r: remover, turn: turn{me: rand.Text(), lease: lease}}
	for {
		// The list is made again after a wait, because the other process has removed
		// files.
		free, err := e.list(ctx)
		if err != nil {
			return nil, err
		}
		other, err := e.seal(ctx, before, free)
		if err != nil || other == nil {
			return e, err
		}
		if err := e.outlast(ctx, *other); err != nil {
			return nil, err
		}
	}
}

// list lists the files, and returns an error if there is no session, or a lock keeps a
// file. If the archive can't lock anything and a manifest was read, list only returns
// free = true, and seal lists the files.
func (e *eraser) list(ctx context.Context) (free bool, err error) {
	s := e.s
	if t, _ := s.manifest.known(); t.seq > 0 {
		if keeper, ok := s.a.(storage.FreeKeeper); ok && keeper.Free(ctx) {
			return true, nil
		}
	}
	if e.files, err = s.removable(ctx); err != nil {
		return false, err
	}
	if !slices.ContainsFunc(e.files, func(f storage.Info) bool { return isOfSession(f.Key.Base()) }) {
		return false, &storage.Error{Op: "erase", Key: s.dir, Err: ErrForeign}
	}
	return false, s.kept(ctx, e.files)
}

// kept returns an error if a lock keeps a file. It checks the newest file first, which a
// lock by age keeps longest.
func (s *Session) kept(ctx context.Context, files []storage.Info) error {
	keeper, ok := s.a.(storage.Keeper)
	if !ok {
		return nil
	}
	latest := slices.Clone(files)
	slices.SortStableFunc(latest, func(x, y storage.Info) int { return y.Modified.Compare(x.Modified) })
	keys := make([]storage.Key, len(latest))
	for i, f := range latest {
		keys[i] = f.Key
	}
	if bulk, ok := keeper.(storage.BulkKeeper); ok {
		return bulk.KeptAny(ctx, keys)
	}
	for _, k := range keys {
		if err := keeper.Kept(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// seal writes the last line of the manifest, atomically with the check for a hold. If
// another process is already erasing the session, seal returns that process. If list is
// true, seal lists the files afterwards.
func (e *eraser) seal(ctx context.Context, before time.Time, list bool) (other *holder, err error) {
	began, by := time.Now(), e.s.manifest.append
	if list {
		by = e.s.manifest.appendUnseen
	}
	_, err = by(ctx, func(f facts) ([]string, error) {
		other = nil
		switch {
		case f.erasing && !f.eraser.is(e.past) && !e.over(f.eraser):
			other = &f.eraser
			return nil, nil
		case f.erasing && e.s.headless():
			return nil, storage.ErrDamaged
		case f.hold.Held:
			return nil, ErrHeld
		case !f.erasing && !before.IsZero() && !f.last.Before(before):
			return nil, errInUse
		}
		return bodies([]record{e.line()}), nil
	})
	e.claimed = began
	if list && other == nil {
		err = e.listSealed(ctx, err)
	}
	return other, err
}

// listSealed lists the files of a session after the last line of its manifest was
// written. The parameter failed is the error of that write. With a [storage.RemovalLister],
// the listing also shows whether the manifest was removed before the line was written
// ([storage.Deferrer]), so that this check needs no request of its own.
func (e *eraser) listSealed(ctx context.Context, failed error) (err error) {
	if failed != nil && !errors.Is(failed, ErrErased) {
		return failed
	}
	list := e.s.Files
	if lister, ok := e.r.(storage.RemovalLister); ok {
		list = func(ctx context.Context) iter.Seq2[storage.Info, error] { return lister.ListToRemove(ctx, e.s.dir) }
	}
	e.files, err = e.s.removableIn(list(ctx))
	if failed != nil {
		return cmp.Or(err, failed)
	}
	settled := e.s.manifest.settle(ctx)
	if errors.Is(settled, storage.ErrSeq) {
		return &storage.Error{Op: "erase", Key: e.s.dir, Err: ErrErased}
	}
	return cmp.Or(err, settled)
}

func (e *eraser) line() record {
	return e.record(record{Op: opErase, At: time.Now(), Who: e.s.who.String()})
}

// outlast waits until the turn of another process, and of each process that follows it,
// is over.
func (e *eraser) outlast(ctx context.Context, other holder) error {
	// The next append begins with facts that can still name the other process.
	e.past = other
	for !e.over(other) {
		if err := other.wait(ctx); err != nil {
			return &storage.Error{Op: "erase", Key: e.s.dir, Err: errors.Join(errOtherErases, err)}
		}
		t, err := e.s.manifest.refresh(ctx)
		if err != nil {
			return err
		}
		other = t.facts.eraser
	}
	return nil
}

// renew renews the turn, unless another process has it.
func (e *eraser) renew(ctx context.Context) error {
	began := time.Now()
	_, err := e.s.manifest.append(ctx, func(f facts) ([]string, error) {
		if f.eraser.by != e.me {
			return nil, errOtherErases
		}
		return bodies([]record{e.line()}), nil
	})
	e.claimed = began
	return err
}

// pass ends the turn after a failure, so that no process waits for it. If the turn
// can't be ended, it is over after its lease.
func (e *eraser) pass(ctx context.Context) {
	if e.last {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), minRemoval)
	defer cancel()
	e.lease = 0
	_ = e.renew(ctx)
}

var (
	errInUse       = errors.New("written to in the meantime")
	errOtherErases = errors.New("another process is erasing it")
)

// removable lists the files in the order of removal.
func (s *Session) removable(ctx context.Context) ([]storage.Info, error) {
	return s.removableIn(s.Files(ctx))
}

// removableIn returns the files of a listing in the order of removal.
func (s *Session) removableIn(listing iter.Seq2[storage.Info, error]) ([]storage.Info, error) {
	var files []storage.Info
	for info, err := range listing {
		if err != nil {
			return nil, err
		}
		if !info.Key.IsZero() {
			files = append(files, info)
		}
	}
	if len(files) == 0 {
		return nil, &storage.Error{Op: "erase", Key: s.dir, Err: storage.ErrNotExist}
	}
	slices.SortStableFunc(files, func(x, y storage.Info) int { return cmp.Compare(removalRank(x), removalRank(y)) })
	return files, nil
}

// removalRank returns the sort key of a file: ledgers first, from the last one;
// the manifest last.
func removalRank(i storage.Info) int {
	if n, ok := ledgerKind.number(i.Key.Base()); ok {
		return -n
	}
	if i.Key.Base() == manifestName {
		return 1
	}
	return 0
}
