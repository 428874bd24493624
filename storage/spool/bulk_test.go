package spool_test

import (
	"context"
	"errors"
	"testing"
	"time"

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

// hastyArchive is a bulk archive that calls meanwhile while its first file is created; the function
// asks to remove the file.
type hastyArchive struct {
	*bulk
	meanwhile func(k storage.Key)
}

func (h *hastyArchive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if do := h.meanwhile; do != nil {
		h.meanwhile = nil
		do(k)
	}
	return h.bulk.Create(ctx, k, b)
}

// A removal waits for a file that is being sent. The file would come back otherwise.
func TestRemovalWaitsForTheSender(t *testing.T) {
	for name, remove := range map[string]func(ctx context.Context, s *spool.Spool, k storage.Key) error{
		"one": func(ctx context.Context, s *spool.Spool, k storage.Key) error { return s.Remove(ctx, k) },
		"many": func(ctx context.Context, s *spool.Spool, k storage.Key) error {
			return s.RemoveAll(ctx, []storage.Key{k})
		},
	} {
		h := &hastyArchive{bulk: &bulk{remote: newRemote()}}
		s := open(t, t.TempDir(), h, &spool.Options{Passive: true})
		h.meanwhile = func(k storage.Key) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := remove(ctx, s, k); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the removal did not wait: %v", name, err)
			}
		}
		must(t, s.Create(t.Context(), key(t, "s/f"), storage.Redacted(redact.Lit("line"))))
		must(t, s.Flush(t.Context()))
		must(t, remove(t.Context(), s, key(t, "s/f")))
		if n := len(holdings(t, h.remote)); n > 0 {
			t.Errorf("%s: %d files are left", name, n)
		}
	}
}
