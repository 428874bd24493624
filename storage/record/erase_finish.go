package record

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/storage"
)

// finish completes an erase that was interrupted after it had removed the last file. If
// there is no such erase, it returns the error none.
func (s *Session) finish(ctx context.Context, none error) (Tombstone, error) {
	stone, ok, err := erased(ctx, s.a, s.dir)
	r, can := s.a.(storage.Remover)
	if err != nil || !ok || stone.Done || stone.Damaged || !can {
		return Tombstone{}, cmp.Or(err, none)
	}
	// An empty folder may be left. The removal of any key in the folder removes the folder.
	// The key that is removed here is not a file of a session, because another session may
	// have begun in the meantime.
	if err := errors.Join(s.forgetName(ctx, r), r.Remove(ctx, child(s.dir, "erased")), s.unindex(ctx)); err != nil {
		return Tombstone{}, err
	}
	stone.Left = s.sweep(ctx)
	stone.At, stone.Done = stone.end(), true
	return stone, bury(ctx, s.graves(), stone)
}

// headless reports whether only the end of the manifest was there when it was read.
func (s *Session) headless() bool {
	t, _ := s.manifest.known()
	return t.seq > 0 && t.first == ""
}

// eraseRest completes an erase that was interrupted while it removed the manifest. This
// is possible if the archive removes a log in pieces, the last one last. The end of the
// manifest is then left, possibly with other pieces, because an archive can remove a part
// of a batch. Nothing can be appended to this rest, so this process takes no turn:
// another process can only remove the same rest, and no session can begin before that. A
// process that is suspended between the check and a removal gives up. If there is no such
// erase, eraseRest returns the error none.
func (s *Session) eraseRest(ctx context.Context, none error) (Tombstone, error) {
	stone, ok, err := erased(ctx, s.a, s.dir)
	r, can := s.a.(storage.Remover)
	if err != nil || !ok || stone.Done || stone.Damaged || !can {
		return Tombstone{}, cmp.Or(err, none)
	}
	files, err := s.removable(ctx)
	for _, f := range files {
		check := turn{lease: lease, claimed: time.Now()}
		now, rerr := newChain(s.a, s.manifest.key, true).refresh(ctx)
		if rerr != nil || !now.facts.erasing || now.first != "" && !now.gap {
			return Tombstone{}, cmp.Or(rerr, none)
		}
		if err = check.within(ctx, func(ctx context.Context) error { return r.Remove(ctx, f.Key) }); err != nil {
			break
		}
	}
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return Tombstone{}, err
	}
	return s.finish(ctx, none)
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
