// Package quota is an example of a store: an archive that stores at most a fixed number
// of bytes in another archive, for a shared disk. A program that imports it can have this
// in its configuration:
//
//	storage: {adapter: quota, quota: {path: /srv/agents, max_bytes: 1000000000}}
package quota

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

// Settings are the section storage.quota.
type Settings struct {
	Path     string `mapstructure:"path" validate:"required" doc:"The folder, relative to the working directory."`
	MaxBytes int    `mapstructure:"max_bytes" validate:"gt=0" doc:"Maximum size of the folder in bytes. Files that it already has count."`
}

func init() {
	configs.Register("quota", configs.Component[Settings]{
		Defaults: Settings{Path: ".compact/archive", MaxBytes: 1 << 30},
		Open:     func(ctx context.Context, s Settings) (storage.Archive, error) { return Open(ctx, s) },
	})
}

// Open opens the folder, and counts the bytes in it.
func Open(ctx context.Context, s Settings) (*Archive, error) {
	below, err := fs.Open(s.Path)
	if err != nil {
		return nil, err
	}
	left := int64(s.MaxBytes)
	for info, err := range below.List(ctx, storage.Key{}) {
		if err != nil {
			return nil, errors.Join(err, below.Close())
		}
		left -= info.Size
	}
	return New(below, left), nil
}

// ErrFull means that the quota is used up.
var ErrFull = errors.New("the quota is used up")

// Archive is an archive that passes calls to another archive until the quota is used
// up. The archive below also does the other operations (opening, listing).
type Archive struct {
	storage.Archive
	left atomic.Int64
}

// New returns an archive that stores at most a given number of bytes in another.
func New(below storage.Archive, bytes int64) *Archive {
	q := &Archive{Archive: below}
	q.left.Store(bytes)
	return q
}

// Create stores b, if there is room.
func (q *Archive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return q.take("create", k, b.Size(), func() error { return q.Archive.Create(ctx, k, b) })
}

// Append adds b to the end of k, if there is room.
func (q *Archive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return q.take("append", k, b.Size(), func() error { return q.Archive.Append(ctx, k, seq, b) })
}

func (q *Archive) take(op string, k storage.Key, size int64, store func() error) error {
	if q.left.Add(-size) < 0 {
		q.left.Add(size)
		return storage.Wrap(op, k, ErrFull)
	}
	err := store()
	if errors.Is(err, storage.ErrExists) || errors.Is(err, storage.ErrSeq) { // nothing was written
		q.left.Add(size)
	}
	return err
}

// Remove removes k, for the erasure of sessions. It does not give back the space.
func (q *Archive) Remove(ctx context.Context, k storage.Key) error {
	below, ok := q.Archive.(storage.Remover)
	if !ok {
		return storage.Wrap("remove", k, errors.ErrUnsupported)
	}
	return below.Remove(ctx, k)
}

// Close closes the archive below, if it has a method Close.
func (q *Archive) Close() error {
	if c, ok := q.Archive.(interface{ Close() error }); ok {
		return c.Close()
	}
	return nil
}
