package record

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
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
// lock keeps the session, and if the last record is not older than before; the zero
// time omits that check. While another process erases the session, condemn waits until
// that process has finished, which is [ErrErased], or its turn is over.
func (s *Session) condemn(ctx context.Context, before time.Time) (*eraser, error) {
	remover, ok := s.a.(storage.Remover)
	if !ok {
		return nil, &storage.Error{Op: "erase", Key: s.dir, Err: storage.ErrUnsupported}
	}
	e := &eraser{s: s, r: remover, turn: turn{me: rand.Text(), lease: lease}}
	for {
		// The list is made again after a wait, because the other process has removed
		// files.
		var err error
		if e.files, err = s.removable(ctx); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(e.files, func(f storage.Info) bool { return isOfSession(f.Key.Base()) }) {
			return nil, &storage.Error{Op: "erase", Key: s.dir, Err: ErrForeign}
		}
		if err := s.kept(ctx, e.files); err != nil {
			return nil, err
		}
		other, err := e.seal(ctx, before)
		if err != nil || other == nil {
			return e, err
		}
		if err := e.outlast(ctx, *other); err != nil {
			return nil, err
		}
	}
}

// kept returns an error if a lock keeps a file. It checks the file that was written
// last, which a lock by age keeps longest.
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
// another process is already erasing the session, seal returns that process.
func (e *eraser) seal(ctx context.Context, before time.Time) (other *holder, err error) {
	began := time.Now()
	_, err = e.s.manifest.append(ctx, func(f facts) ([]string, error) {
		other = nil
		switch {
		case f.erasing && e.s.headless():
			return nil, storage.ErrDamaged
		case f.hold.Held:
			return nil, ErrHeld
		case f.erasing && !f.eraser.is(e.past) && !e.over(f.eraser):
			other = &f.eraser
			return nil, nil
		case !f.erasing && !before.IsZero() && !f.last.Before(before):
			return nil, errInUse
		}
		return bodies([]record{e.line()}), nil
	})
	e.claimed = began
	return other, err
}

func (e *eraser) line() record {
	return e.record(record{Op: opErase, At: time.Now(), Who: e.s.who.String()})
}

// outlast waits until the turn of another process, and of each process that follows it,
// is over.
func (e *eraser) outlast(ctx context.Context, other holder) error {
	// The next append begins with facts that can still name this process.
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

// removable returns the files in the order of removal.
func (s *Session) removable(ctx context.Context) ([]storage.Info, error) {
	var files []storage.Info
	for info, err := range s.Files(ctx) {
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

// removeAll removes the files, then files that a concurrent writer has added since, and
// last the manifest. It gives up after some rounds. Nothing is removed after the
// manifest: from then on the files belong to a session that begins again. If a late
// writer leaves files there, it removes them itself ([Session.withdraw]).
func (e *eraser) removeAll(ctx context.Context) error {
	const rounds = 5
	for range rounds {
		if err := e.removeFiles(ctx); err != nil {
			return err
		}
		files, err := e.s.removable(ctx)
		if err != nil && !errors.Is(err, storage.ErrNotExist) {
			return err
		}
		if !slices.ContainsFunc(files, func(f storage.Info) bool { return f.Key != e.s.manifest.key }) {
			return e.removeManifest(ctx)
		}
		e.files = files
	}
	return &storage.Error{Op: "erase", Key: e.s.dir, Err: errInUse}
}

// removeFiles removes all files but the manifest, one by one. A BulkRemover removes the
// ledgers in one call, then the other files in one call.
func (e *eraser) removeFiles(ctx context.Context) error {
	ledgers, others := e.s.inBulk(e.files)
	for _, keys := range [][]storage.Key{ledgers, others} {
		for some := range slices.Chunk(keys, e.atOnce()) {
			if err := e.remove(ctx, some...); err != nil {
				return err
			}
		}
	}
	return nil
}

// atOnce returns how many files are removed with one call.
func (e *eraser) atOnce() int {
	if _, ok := e.r.(storage.BulkRemover); ok {
		return 1000 // maximum number of objects that one request to S3 removes
	}
	return 1
}

// remove removes files while this process has the turn.
func (e *eraser) remove(ctx context.Context, keys ...storage.Key) error {
	ctx, cancel, err := e.inTurn(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	if bulk, ok := e.r.(storage.BulkRemover); ok && len(keys) > 1 {
		return tooSlow(ctx, errors.Join(bulk.RemoveAll(ctx, keys), ctx.Err()))
	}
	return tooSlow(ctx, e.r.Remove(ctx, keys[0]))
}

// removeManifest removes the record of the session's name and then the manifest, so
// that a repeated erase completes it.
func (e *eraser) removeManifest(ctx context.Context) error {
	if err := e.remove(ctx, nameKey(headID(e.s.dir))); err != nil {
		return err
	}
	ctx, cancel, err := e.inTurn(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	e.last = true
	return tooSlow(ctx, e.r.Remove(ctx, e.s.manifest.key))
}

// inTurn returns a context that ends before the turn does; it renews the turn if
// needed.
func (e *eraser) inTurn(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if e.late() {
		if err := e.renew(ctx); err != nil {
			return nil, nil, err
		}
	}
	ctx, cancel := e.limit(ctx)
	return ctx, cancel, nil
}

// inBulk returns the ledgers, and the other files without the manifest.
func (s *Session) inBulk(files []storage.Info) (ledgers, others []storage.Key) {
	for _, f := range files {
		switch rank := removalRank(f); {
		case rank < 0:
			ledgers = append(ledgers, f.Key)
		case rank == 0:
			others = append(others, f.Key)
		}
	}
	return ledgers, others
}
