package record

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/storage"
)

// finish completes an erase that was interrupted after the last file. If there is no such
// erase, it returns the error none.
func (s *Session) finish(ctx context.Context, none error) (Tombstone, error) {
	stone, ok, err := erased(ctx, s.a, s.dir)
	r, can := s.a.(storage.Remover)
	if err != nil || !ok || stone.Done || stone.Damaged || !can {
		return Tombstone{}, cmp.Or(err, none)
	}
	// An empty folder may be left. The removal of any key in the folder removes the
	// folder. The removed file does not belong to a session, because another session may
	// have begun in the meantime.
	if err := errors.Join(s.forgetName(ctx, r), r.Remove(ctx, child(s.dir, "erased")), s.unindex(ctx)); err != nil {
		return Tombstone{}, err
	}
	stone.Left = s.sweep(ctx)
	stone.At, stone.Done = time.Now(), true
	return stone, bury(ctx, s.graves(), stone)
}

// forgetName removes the record of a session's name, unless another session of that name
// has begun.
func (s *Session) forgetName(ctx context.Context, r storage.Remover) error {
	now, err := newChain(s.a, s.manifest.key, true).refresh(ctx)
	if err != nil || now.seq > 0 {
		return err
	}
	return r.Remove(ctx, nameKey(headID(s.dir)))
}
