// Package memory is an archive in memory, for tests and for programs that want
// recall without files. Its content ends with the process, which is the only
// deviation from the contract of an archive.
package memory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/storage"
)

// Archive stores files in memory. Create it with [New].
type Archive struct {
	mu    sync.RWMutex
	files map[storage.Key]file
}

type file struct {
	data     []byte // bytes are never modified, only appended
	modified time.Time
}

var (
	_ storage.Archive = (*Archive)(nil)
	_ storage.Remover = (*Archive)(nil)
)

// New returns an empty archive.
func New() *Archive { return &Archive{files: map[storage.Key]file{}} }

// Volatile marks an archive whose content is lost when the process exits, so
// that its key need not be stored.
func (*Archive) Volatile() {}

var errNegative = errors.New("offset is negative")

// Create implements [storage.Archive].
func (a *Archive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return a.change(ctx, "create", k, func() error {
		if _, ok := a.files[k]; ok {
			return storage.ErrExists
		}
		a.files[k] = file{appendBlob(nil, b), time.Now()}
		return nil
	})
}

// Append implements [storage.Archive].
func (a *Archive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return a.change(ctx, "append", k, func() error {
		have := a.files[k].data
		if int64(len(have)) != seq {
			return storage.ErrSeq
		}
		a.files[k] = file{appendBlob(have, b), time.Now()}
		return nil
	})
}

// Remove implements [storage.Remover].
func (a *Archive) Remove(ctx context.Context, k storage.Key) error {
	return a.change(ctx, "remove", k, func() error {
		delete(a.files, k)
		return nil
	})
}

// Open implements [storage.Archive].
func (a *Archive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := storage.Begin(ctx, "open", k); err != nil {
		return nil, err
	}
	if off < 0 {
		return nil, storage.Wrap("open", k, errNegative)
	}
	a.mu.RLock()
	f, ok := a.files[k]
	a.mu.RUnlock()
	if !ok {
		return nil, storage.Wrap("open", k, storage.ErrNotExist)
	}
	data := f.data[min(off, int64(len(f.data))):]
	if n >= 0 {
		data = data[:min(n, int64(len(data)))]
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// List implements [storage.Archive].
func (a *Archive) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for _, info := range a.snapshot(prefix) {
			if ctx.Err() != nil {
				break
			}
			if !yield(info, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(storage.Info{}, storage.Wrap("list", prefix, err))
		}
	}
}

func (a *Archive) snapshot(prefix storage.Key) []storage.Info {
	a.mu.RLock()
	defer a.mu.RUnlock()
	var out []storage.Info
	for k, f := range a.files {
		if k.Has(prefix) {
			out = append(out, storage.Info{Key: k, Size: int64(len(f.data)), Modified: f.modified})
		}
	}
	slices.SortFunc(out, func(x, y storage.Info) int {
		return strings.Compare(x.Key.String(), y.Key.String())
	})
	return out
}

// change runs the function do under the lock, after checking the arguments.
func (a *Archive) change(ctx context.Context, op string, k storage.Key, do func() error) error {
	if err := storage.Begin(ctx, op, k); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return storage.Wrap(op, k, do())
}

// appendBlob writes after the end of data, where no reader reads.
func appendBlob(data []byte, b storage.Blob) []byte {
	w := grower(slices.Grow(data, int(b.Size())))
	_, _ = b.WriteTo(&w) // never fails
	return w
}

type grower []byte

func (g *grower) Write(p []byte) (int, error) {
	*g = append(*g, p...)
	return len(p), nil
}
