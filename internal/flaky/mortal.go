package flaky

import (
	"context"
	"errors"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// ErrDied is the error of a dead process.
var ErrDied = errors.New("killed")

// Mortal is the archive of a process that dies after a number of changes: later
// changes don't reach the archive, and each returns [ErrDied].
type Mortal struct {
	storage.Archive

	mu   sync.Mutex
	left int
}

// NewMortal returns the archive of a process that dies after a given number of changes.
func NewMortal(a storage.Archive, changes int) *Mortal { return &Mortal{Archive: a, left: changes} }

func (m *Mortal) change(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return ErrDied
	}
	return do()
}

// Create implements [storage.Archive].
func (m *Mortal) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return m.change(func() error { return m.Archive.Create(ctx, k, b) })
}

// Append implements [storage.Archive].
func (m *Mortal) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return m.change(func() error { return m.Archive.Append(ctx, k, seq, b) })
}

// Remove implements [storage.Remover].
func (m *Mortal) Remove(ctx context.Context, k storage.Key) error {
	return m.change(func() error {
		r, ok := m.Archive.(storage.Remover)
		if !ok {
			return storage.ErrUnsupported
		}
		return r.Remove(ctx, k)
	})
}
