package spool_test

import (
	"context"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/spool"
)

// bulk is a remote archive that removes many keys at once.
type bulk struct {
	*remote
	asked int
	locks int
}

func (b *bulk) RemoveAll(ctx context.Context, keys []storage.Key) error {
	b.asked++
	for _, k := range keys {
		if err := b.Remove(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

func (b *bulk) Kept(context.Context, storage.Key) error { return storage.ErrLocked }

func (b *bulk) KeptAny(context.Context, []storage.Key) error {
	b.locks++
	return nil
}

// The spool uses bulk operations of the remote archive in an erase, and removes the
// same files from the disk.
func TestEraseAsksTheRemoteArchiveAtOnce(t *testing.T) {
	b := &bulk{remote: newRemote()}
	s := open(t, t.TempDir(), b, &spool.Options{Passive: true})
	log := session(t, s, "s")
	must(t, step(t.Context(), log))
	must(t, step(t.Context(), log))
	must(t, s.Flush(t.Context()))
	must(t, step(t.Context(), log)) // which waits
	stone, err := log.Erase(t.Context(), redact.Lit("asked for"))
	must(t, err)
	if !stone.Done || b.asked == 0 || b.asked > 4 || b.locks != 1 {
		t.Errorf("done %v, asked %d times to remove, %d times for locks", stone.Done, b.asked, b.locks)
	}
	must(t, s.Flush(t.Context()))
	for _, a := range []storage.Archive{s, b.remote} {
		for k := range holdings(t, a) {
			if key(t, k).Dir() == "s" {
				t.Errorf("%s is left", k)
			}
		}
	}
}
