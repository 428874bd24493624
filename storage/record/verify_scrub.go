package record

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/agentcompact/compact/storage"
)

// half is the archive of a session with a scrub that was interrupted while it replaced
// files. It reads each waiting file in place of the file that it will replace.
type half struct {
	storage.Archive
	waiting map[storage.Key]storage.Key // by the key that a file will have
	place   map[storage.Key]storage.Key // the reverse
}

// halfScrubbed returns the archive in its scrubbed form, if a scrub was interrupted and
// each of its files is proven. A file is proven if the new file is in place, or if the
// new file waits and the old file is missing or unchanged. Otherwise it returns nil.
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

// Open implements [storage.Archive]. A waiting file may have been placed in the
// meantime.
func (h *half) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	temp, waits := h.waiting[k]
	if !waits {
		return h.Archive.Open(ctx, k, off, n)
	}
	r, err := h.Archive.Open(ctx, temp, off, n)
	if errors.Is(err, storage.ErrNotExist) {
		return h.Archive.Open(ctx, k, off, n)
	}
	return r, err
}

// List implements [storage.Archive]. A waiting file is listed in place of the file that
// it will replace.
func (h *half) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	under := []storage.Key{prefix}
	if temp, waits := h.waiting[prefix]; waits {
		under = append(under, temp)
	}
	return func(yield func(storage.Info, error) bool) {
		found := map[storage.Key]storage.Info{}
		for _, k := range under {
			for info, err := range h.Archive.List(ctx, k) {
				if err != nil || info.Foreign != "" {
					if !yield(info, err) || err != nil {
						return
					}
					continue
				}
				place, waits := h.place[info.Key]
				if _, has := found[info.Key]; waits {
					info.Key = place
					found[place] = info
				} else if !has {
					found[info.Key] = info
				}
			}
		}
		for _, k := range slices.SortedFunc(maps.Keys(found), func(x, y storage.Key) int { return strings.Compare(x.String(), y.String()) }) {
			if !yield(found[k], nil) {
				return
			}
		}
	}
}

// Location implements [storage.Locator].
func (h *half) Location(k storage.Key) string { return location(h.Archive, k) }

// Create implements [storage.Archive]. It returns an error, because a writer must first
// finish the scrub.
func (h *half) Create(_ context.Context, k storage.Key, _ storage.Blob) error {
	return &storage.Error{Op: "create", Key: k, Err: ErrUnplaced}
}

// Append implements [storage.Archive]. It returns an error, like Create.
func (h *half) Append(_ context.Context, k storage.Key, _ int64, _ storage.Blob) error {
	return &storage.Error{Op: "append", Key: k, Err: ErrUnplaced}
}
