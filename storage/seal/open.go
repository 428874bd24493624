package seal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// Held lists the keys of an archive that a folder has.
type Held struct {
	Keys []Key    // newest first
	Lost []string // ids of missing keys
}

// Look returns the keys of an archive that are in a folder.
func Look(ctx context.Context, a storage.Archive, folder string) (h Held, err error) {
	ids, err := record.KeyIDs(ctx, a)
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

// Make does the same as Look, and adds the key k if the folder has none of the
// archive's keys. Concurrent processes with one folder get the same key. The key
// is durable before the archive names it.
func Make(ctx context.Context, a storage.Archive, folder string, k Key) (Held, error) {
	return add(ctx, a, folder, k, func(h Held) bool { return len(h.Keys) > 0 })
}

// Add adds a new key to the archive, which seals later data. Older keys stay for
// earlier data.
func Add(ctx context.Context, a storage.Archive, folder string, k Key) (Held, error) {
	return add(ctx, a, folder, k, func(Held) bool { return false })
}

// ErrFolder means that the folder for keys can't be written.
var ErrFolder = errors.New("seal: the key can't be kept")

func add(ctx context.Context, a storage.Archive, folder string, k Key, enough func(Held) bool) (Held, error) {
	if err := WriteKey(folder, k); err != nil {
		return Held{}, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	ids, err := record.AddKeyID(ctx, a, k.ID(), func(ids []string) bool { return enough(held(folder, ids)) })
	if err != nil {
		return Held{}, err // the archive may name the key nevertheless, so the key stays
	}
	if !slices.Contains(ids, k.ID()) {
		_ = RemoveKey(folder, k) // another process was first
	}
	return held(folder, ids), nil
}
