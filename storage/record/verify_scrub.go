package record

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/agentcompact/compact/storage"
)

// half is a session of which a scrub was cut short while it replaced files. It reads the
// files that wait as those that they will replace.
type half struct {
	storage.Archive
	waiting map[storage.Key]storage.Key // by the key that a file will have
	place   map[storage.Key]storage.Key // the reverse
}

// halfScrubbed returns the archive as the scrub leaves it, if there is one that was
// cut short and every file of it is proven: it is in place, or is missing or as before
// while the right one waits. Otherwise it returns nil.
func halfScrubbed(ctx context.Context, a storage.Archive, dir storage.Key, scrub *unplaced) *half {
	if scrub == nil {
		return nil
	}
	h := &half{Archive: a, waiting: map[storage.Key]storage.Key{}, place: map[storage.Key]storage.Key{}}
	for _, f := range scrub.files {
		if !f.File {
			continue
		}
		key := child(dir, f.Name)
		if have, err := sumOf(ctx, a, key, f.Bytes); err == nil && have == f.SHA256 {
			continue
		}
		have, _, err := hashFile(ctx, a, key)
		if err == nil && have != f.Was || err != nil && !errors.Is(err, storage.ErrNotExist) {
			return nil
		}
		temp := child(dir, waitingName(scrub.id, f.Name))
		have, _, err = hashFile(ctx, a, temp)
		if errors.Is(err, storage.ErrNotExist) { // version 0.1.0
			temp = child(dir, scrubPrefix+f.Name)
			have, _, err = hashFile(ctx, a, temp)
		}
		if err != nil || have != f.SHA256 {
			return nil
		}
		h.waiting[key], h.place[temp] = temp, key
	}
	return h
}

// Open implements [storage.Archive].
func (h *half) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if temp, ok := h.waiting[k]; ok {
		k = temp
	}
	return h.Archive.Open(ctx, k, off, n)
}

// List implements [storage.Archive]. A file that waits has the place of the other one.
func (h *half) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		under := prefix
		if temp, ok := h.waiting[prefix]; ok {
			under = temp
		}
		for info, err := range h.Archive.List(ctx, under) {
			if _, replaced := h.waiting[info.Key]; err == nil && replaced {
				continue
			}
			if key, waits := h.place[info.Key]; waits {
				info.Key = key
			}
			if !yield(info, err) {
				return
			}
		}
	}
}
