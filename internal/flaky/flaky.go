// Package flaky provides an archive for tests that sometimes fails, before or after an
// operation.
package flaky

import (
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// Err is the error of a failing call, in a [*storage.Error].
var Err = errors.New("connection reset by peer")

// Archive passes calls to another archive. Writing calls fail at random. Half of the
// failing calls have written the data nevertheless.
type Archive struct {
	storage.Archive
	Reads bool // calls that read fail, too

	mu   sync.Mutex
	rand *rand.Rand
	rate int
}

// New returns an archive that does not fail before a call of [Archive.Fails].
func New(a storage.Archive, r *rand.Rand) *Archive { return &Archive{Archive: a, rand: r} }

// Fails sets the number of failures per 100 calls.
func (a *Archive) Fails(rate int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rate = rate
}

// fate decides whether a call fails, and whether a failing call is made nevertheless.
func (a *Archive) fate() (fails, made bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.rand.IntN(100) < a.rate, a.rand.IntN(2) == 0
}

func (a *Archive) write(op string, k storage.Key, do func() error) error {
	fails, made := a.fate()
	if !fails {
		return do()
	}
	if made {
		if err := do(); err != nil {
			return err
		}
	}
	return &storage.Error{Op: op, Key: k, Err: Err}
}

// Create implements [storage.Archive].
func (a *Archive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return a.write("create", k, func() error { return a.Archive.Create(ctx, k, b) })
}

// Append implements [storage.Archive].
func (a *Archive) Append(ctx context.Context, k storage.Key, at int64, b storage.Blob) error {
	return a.write("append", k, func() error { return a.Archive.Append(ctx, k, at, b) })
}

// Open implements [storage.Archive].
func (a *Archive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if fails, _ := a.fate(); a.Reads && fails {
		return nil, &storage.Error{Op: "open", Key: k, Err: Err}
	}
	return a.Archive.Open(ctx, k, off, n)
}

// List implements [storage.Archive].
func (a *Archive) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if fails, _ := a.fate(); a.Reads && fails {
		return func(yield func(storage.Info, error) bool) {
			yield(storage.Info{}, &storage.Error{Op: "list", Key: prefix, Err: Err})
		}
	}
	return a.Archive.List(ctx, prefix)
}

// Remove implements [storage.Remover].
func (a *Archive) Remove(ctx context.Context, k storage.Key) error {
	r, ok := a.Archive.(storage.Remover)
	if !ok {
		return storage.ErrUnsupported
	}
	return a.write("remove", k, func() error { return r.Remove(ctx, k) })
}
