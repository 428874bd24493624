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
	// The manifest is removed once more, because its empty folder may be left.
	if err := errors.Join(s.removeOne(ctx, r, s.manifest.key), s.unindex(ctx)); err != nil {
		return Tombstone{}, err
	}
	stone.Left = s.sweep(ctx)
	stone.At, stone.Done = time.Now(), true
	return stone, bury(ctx, s.graves(), stone)
}
