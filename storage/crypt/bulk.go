package crypt

import (
	"context"

	"github.com/agentcompact/compact/storage"
)

// RemoveAll implements [storage.BulkRemover]. If the inner archive implements it, too,
// RemoveAll lists each folder once and calls the inner archive once; otherwise it removes
// one key after the other.
func (a *Archive) RemoveAll(ctx context.Context, keys []storage.Key) error {
	bulk, ok := a.inner.(storage.BulkRemover)
	if !ok {
		for _, k := range keys {
			if err := a.Remove(ctx, k); err != nil {
				return err
			}
		}
		return nil
	}
	objects, err := a.objectsOf(ctx, "remove", keys)
	if err != nil || len(objects) == 0 {
		return err
	}
	defer func() {
		for _, k := range keys {
			a.forgetTail(k)
		}
	}()
	return rewrap("remove", keys[0], bulk.RemoveAll(ctx, objects))
}

// Free implements [storage.FreeKeeper] if the inner archive does.
func (a *Archive) Free(ctx context.Context) bool {
	keeper, ok := a.inner.(storage.FreeKeeper)
	return ok && keeper.Free(ctx)
}

// KeptAny implements [storage.BulkKeeper] if the inner archive is a Keeper.
func (a *Archive) KeptAny(ctx context.Context, keys []storage.Key) error {
	bulk, ok := a.inner.(storage.BulkKeeper)
	if !ok {
		for _, k := range keys {
			if err := a.Kept(ctx, k); err != nil {
				return err
			}
		}
		return nil
	}
	objects, err := a.objectsOf(ctx, "look for a lock", keys)
	if err != nil || len(objects) == 0 {
		return err
	}
	return rewrap("look for a lock", keys[0], bulk.KeptAny(ctx, objects))
}

// objectsOf returns the objects of keys: the files, whether or not they exist, and
// the existing pieces of logs.
func (a *Archive) objectsOf(ctx context.Context, op string, keys []storage.Key) (all []storage.Key, err error) {
	wanted, folders := map[storage.Key]bool{}, map[string]bool{}
	for _, k := range keys {
		if err := storage.Begin(ctx, op, k); err != nil {
			return nil, err
		}
		file, err := fileKey(k)
		if err != nil {
			return nil, rewrap(op, k, err)
		}
		all, wanted[k], folders[k.Dir()] = append(all, file), true, true
	}
	for dir := range folders {
		pieces, err := a.piecesBelow(ctx, dir, wanted)
		if err != nil {
			return nil, rewrap(op, keys[0], err)
		}
		all = append(all, pieces...)
	}
	return all, nil
}

// piecesBelow returns the objects of the wanted logs in a folder.
func (a *Archive) piecesBelow(ctx context.Context, dir string, wanted map[storage.Key]bool) (all []storage.Key, err error) {
	folder, err := storage.ParseKey(dir)
	if err != nil {
		return nil, err
	}
	for info, err := range a.inner.List(ctx, folder) {
		if err != nil {
			return nil, err
		}
		if log, _, piece, ok := parse(info.Key); ok && piece && info.Foreign == "" && wanted[log] {
			all = append(all, info.Key)
		}
	}
	return all, nil
}
