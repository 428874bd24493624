package seal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// Held is which keys of an archive a folder has.
type Held struct {
	Keys []Key    // the newest first
	Lost []string // ids of those that it has not
}

// Look returns the keys that an archive names, as far as a folder has them.
func Look(ctx context.Context, a storage.Archive, folder string) (h Held, err error) {
	ids, err := storage.KeyIDs(ctx, a)
	if err != nil {
		return h, err
	}
	return held(folder, ids), nil
}

func held(folder string, ids []string) (h Held) {
	for i := len(ids) - 1; i >= 0; i-- {
		if k, err := ReadKey(folder, ids[i]); err == nil {
			h.Keys = append(h.Keys, k)
		} else {
			h.Lost = append(h.Lost, ids[i])
		}
	}
	return h
}

// Make is Look that makes a key where the folder has none of the archive's. Of
// several processes that do so at once with one folder all get the same key. The
// key is durable before the archive names it.
func Make(ctx context.Context, a storage.Archive, folder string, k Key) (Held, error) {
	return add(ctx, a, folder, k, func(h Held) bool { return len(h.Keys) > 0 })
}

// Add gives the archive a new key: what is written from now on is sealed with it.
// Those that it has stay, for what was written before.
func Add(ctx context.Context, a storage.Archive, folder string, k Key) (Held, error) {
	return add(ctx, a, folder, k, func(Held) bool { return false })
}

// ErrFolder: the folder for keys takes none.
var ErrFolder = errors.New("seal: the key can't be kept")

func add(ctx context.Context, a storage.Archive, folder string, k Key, enough func(Held) bool) (Held, error) {
	if err := WriteKey(folder, k); err != nil {
		return Held{}, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	ids, err := storage.AddKeyID(ctx, a, k.ID(), func(ids []string) bool { return enough(held(folder, ids)) })
	if err != nil {
		return Held{}, err // it may be named there all the same, so the key stays
	}
	if !slices.Contains(ids, k.ID()) {
		_ = RemoveKey(folder, k) // another was first
	}
	return held(folder, ids), nil
}
