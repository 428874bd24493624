package record

import (
	"context"
	"errors"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// removeAll removes the files, then files that a concurrent writer has added since, and
// last the manifest. It gives up after some rounds. Nothing is removed after the
// manifest: from then on the files belong to a session that begins again. If a late
// writer leaves files there, it removes them itself ([Session.withdraw]).
func (e *eraser) removeAll(ctx context.Context) error {
	const rounds = 5
	for range rounds {
		others, err := e.removeWithEnd(ctx)
		if errors.Is(err, storage.ErrUnsupported) {
			others, err = e.removeThenEnd(ctx)
		}
		if err != nil || !others {
			return err
		}
	}
	return &storage.Error{Op: "erase", Key: e.s.dir, Err: errInUse}
}

// removeThenEnd removes the files and then the manifest, unless other files were added.
func (e *eraser) removeThenEnd(ctx context.Context) (others bool, err error) {
	if err := e.removeFiles(ctx); err != nil {
		return false, err
	}
	if e.files, err = e.s.removable(ctx); err != nil && !errors.Is(err, storage.ErrNotExist) {
		return false, err
	}
	if slices.ContainsFunc(e.files, func(f storage.Info) bool { return f.Key != e.s.manifest.key }) {
		return true, nil
	}
	return false, e.removeManifest(ctx)
}

// removeWithEnd removes the files, the record of the session's name, and the manifest
// except its end, in one call. Then it removes the end, unless other files were added.
func (e *eraser) removeWithEnd(ctx context.Context) (others bool, err error) {
	remover, ok := e.r.(storage.EndRemover)
	if !ok {
		return false, storage.ErrUnsupported
	}
	ledgers, files := e.s.inBulk(e.files)
	keys := slices.Concat(ledgers, files, []storage.Key{nameKey(headID(e.s.dir))})
	for ; len(keys) > e.atOnce(); keys = keys[e.atOnce():] {
		if err := e.remove(ctx, keys[:e.atOnce()]...); err != nil {
			return false, err
		}
	}
	err = e.doInTurn(ctx, func(ctx context.Context) error { return remover.RemoveAllBut(ctx, keys, e.s.manifest.key) })
	if err != nil {
		return false, err
	}
	err = e.doInTurn(ctx, func(ctx context.Context) (err error) {
		// If the turn fails, the next append ends it. If the archive checks each append, this
		// append finds whether the end was removed.
		_, checks := e.s.a.(storage.Deferrer)
		e.last = !checks
		others, err = remover.RemoveEnd(ctx, e.s.manifest.key)
		return err
	})
	if err != nil || !others {
		return false, err
	}
	e.last = false
	e.files, err = e.s.removable(ctx)
	return true, err
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

// remove removes files while this process has the turn. If the archive takes longer, remove
// renews the turn and repeats the removal, because some of the files can be gone by then.
func (e *eraser) remove(ctx context.Context, keys ...storage.Key) (err error) {
	const tries = 10
	for range tries {
		err = e.doInTurn(ctx, func(ctx context.Context) error {
			if bulk, ok := e.r.(storage.BulkRemover); ok && len(keys) > 1 {
				return errors.Join(bulk.RemoveAll(ctx, keys), ctx.Err())
			}
			return e.r.Remove(ctx, keys[0])
		})
		if !errors.Is(err, errSlow) {
			break
		}
	}
	return err
}

// removeManifest removes the record of the session's name and then the manifest. In this
// order a repeated erase can complete an interrupted one.
func (e *eraser) removeManifest(ctx context.Context) error {
	if err := e.remove(ctx, nameKey(headID(e.s.dir))); err != nil {
		return err
	}
	return e.doInTurn(ctx, func(ctx context.Context) error {
		e.last = true
		return e.r.Remove(ctx, e.s.manifest.key)
	})
}

// doInTurn calls do with a context that ends before the turn does; it renews the turn if
// needed.
func (e *eraser) doInTurn(ctx context.Context, do func(context.Context) error) error {
	if e.late() {
		if err := e.renew(ctx); err != nil {
			return err
		}
	}
	return e.within(ctx, do)
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
