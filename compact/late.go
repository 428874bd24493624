package compact

import (
	"context"
	"io"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/agentcompact/compact/storage"
)

// openTimeout limits one attempt to open an archive in the background.
const openTimeout = 30 * time.Second

// lateArchive replaces an archive that could not be opened if the configuration says to
// continue (storage.on_error: continue). A use starts another attempt in the background
// if the pause since the last one is over. The pause is a second at first, about
// doubles with each failure, and is at most a minute. Until an attempt succeeds,
// sessions appear empty and can't be written, so decisions are known only to this
// process.
type lateArchive struct {
	*env
	side *work  // runs the attempts
	name string // name for the log
	open func(context.Context) (storage.Archive, error)

	mu       sync.Mutex
	inner    storage.Archive // nil while it is not open
	err      error           // why it is not open
	failures int
	next     time.Time
	busy     bool
	closed   bool // Close was called
}

var (
	_ storage.Archive = (*lateArchive)(nil)
	_ storage.Locator = (*lateArchive)(nil)
	_ storage.Layered = (*lateArchive)(nil)
)

// newLate returns a lateArchive for an archive that could not be opened.
func newLate(e *env, side *work, name string, err error, open func(context.Context) (storage.Archive, error)) *lateArchive {
	a := &lateArchive{env: e, side: side, name: name, open: open}
	a.failed(err)
	return a
}

// failed records and logs that the archive could not be opened, and sets the
// time of the next attempt.
func (a *lateArchive) failed(err error) {
	a.mu.Lock()
	most := min(firstRest<<min(a.failures, 10), longestRest)
	a.failures++
	a.err, a.busy, a.next = err, false, a.now().Add(most/2+rand.N(most/2))
	a.mu.Unlock()
	a.log().Error("compact: an archive can't be opened; nothing is archived (storage.on_error: continue)",
		"archive", a.name, "error", a.redactor.Text(err.Error()).String())
}

// Inner implements [storage.Layered].
func (a *lateArchive) Inner() storage.Archive {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inner
}

// missing returns the reason why the archive is not open, nil if it is.
func (a *lateArchive) missing() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inner != nil {
		return nil
	}
	return a.err
}

// get returns the archive if it is open. Otherwise it can start an attempt to
// open it, without waiting.
func (a *lateArchive) get() (storage.Archive, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inner != nil {
		return a.inner, nil
	}
	if !a.busy && !isAhead(a.now(), a.next, longestRest) {
		a.busy = a.side.start(context.Background(), a.try)
	}
	return nil, a.err
}

func (a *lateArchive) try(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	inner, err := a.opened(bounded)
	if err != nil {
		if ctx.Err() == nil {
			a.failed(err)
		}
		return
	}
	a.mu.Lock()
	a.busy = false
	closed := a.closed
	if !closed {
		a.inner = inner
	}
	a.mu.Unlock()
	if closed {
		a.discard(inner)
		return
	}
	a.log().Info("compact: the archive is open now", "archive", a.name)
}

// discard closes an archive that was opened after Close.
func (a *lateArchive) discard(inner storage.Archive) {
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	if err := closeOpened(ctx, inner); err != nil {
		a.log().Error("compact: an archive that opened after Close can't be closed",
			"archive", a.name, "error", a.redactor.Text(err.Error()).String())
	}
}

// opened calls the function open, and returns a panic as an error.
func (a *lateArchive) opened(ctx context.Context) (_ storage.Archive, err error) {
	defer a.rescue("the archive", &err)
	return a.open(ctx)
}

// do calls the archive if it is open.
func (a *lateArchive) do(ctx context.Context, op string, k storage.Key, call func(storage.Archive) error) error {
	if err := storage.Begin(ctx, op, k); err != nil {
		return err
	}
	inner, err := a.get()
	if err != nil {
		return &storage.Error{Op: op, Key: k, Err: err}
	}
	return call(inner)
}

// Create implements [storage.Archive].
func (a *lateArchive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return a.do(ctx, "create", k, func(in storage.Archive) error { return in.Create(ctx, k, b) })
}

// Append implements [storage.Archive].
func (a *lateArchive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return a.do(ctx, "append", k, func(in storage.Archive) error { return in.Append(ctx, k, seq, b) })
}

// Open implements [storage.Archive].
func (a *lateArchive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := storage.Begin(ctx, "open", k); err != nil {
		return nil, err
	}
	inner, err := a.get()
	if err != nil {
		return nil, &storage.Error{Op: "open", Key: k, Err: storage.ErrNotExist}
	}
	return inner.Open(ctx, k, off, n)
}

// List implements [storage.Archive].
func (a *lateArchive) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	inner, err := a.get()
	if err == nil {
		return inner.List(ctx, prefix)
	}
	return func(yield func(storage.Info, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(storage.Info{}, storage.Wrap("list", prefix, err))
		}
	}
}

// Location implements [storage.Locator].
func (a *lateArchive) Location(k storage.Key) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l, ok := a.inner.(storage.Locator); ok {
		return l.Location(k)
	}
	return k.String()
}

// Flush sends the contents of the spool, if there is one.
func (a *lateArchive) Flush(ctx context.Context) error {
	a.mu.Lock()
	inner := a.inner
	a.mu.Unlock()
	if f, ok := inner.(interface{ Flush(context.Context) error }); ok {
		return f.Flush(ctx)
	}
	return nil
}

// Close closes the archive, if it was opened.
func (a *lateArchive) Close(ctx context.Context) error {
	a.mu.Lock()
	inner := a.inner
	a.closed = true
	a.mu.Unlock()
	return closeOpened(ctx, inner)
}

func closeOpened(ctx context.Context, archive storage.Archive) error {
	switch a := archive.(type) {
	case interface{ Close(context.Context) error }:
		return a.Close(ctx)
	case io.Closer:
		return a.Close()
	}
	return nil
}
