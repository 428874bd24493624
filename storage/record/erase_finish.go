package record

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/storage"
)

// finish completes an erase that was interrupted after the last file. If there is none, it
// returns the error none.
func (s *Session) finish(ctx context.Context, none error) (Tombstone, error) {
	stone, ok, err := erased(ctx, s.a, s.dir)
	r, can := s.a.(storage.Remover)
	if err != nil || !ok || stone.Done || stone.Damaged || !can {
		return Tombstone{}, cmp.Or(err, none)
	}
	// The folder may be left, empty, which the removal of any file in it removes. The file
	// is none of a session, as another one can have begun meanwhile.
	if err := errors.Join(s.forgetName(ctx, r), r.Remove(ctx, child(s.dir, "erased")), s.unindex(ctx)); err != nil {
		return Tombstone{}, err
	}
	stone.Left = s.sweep(ctx)
	stone.At, stone.Done = time.Now(), true
	return stone, bury(ctx, s.graves(), stone)
}

// forgetName removes the record of the name of a session, unless another one has begun.
func (s *Session) forgetName(ctx context.Context, r storage.Remover) error {
	now, err := newChain(s.a, s.manifest.key, true).refresh(ctx)
	if err != nil || now.seq > 0 {
		return err
	}
	return r.Remove(ctx, nameKey(headID(s.dir)))
}
