package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/storage"
)

var errNegative = errors.New("offset is negative")

// Open implements [storage.Archive]. A file needs one GET or ranged GET. A
// broken connection is resumed at its position. The reader fails once ctx is
// done.
func (a *Archive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if err := mayOpen(ctx, k, off); err != nil {
		return nil, err
	}
	ways := []func(context.Context, storage.Key, int64, int64) (io.ReadCloser, error){a.openFile, a.openSegments}
	if last, known := a.tail(k); known && last.size > 0 {
		ways[0], ways[1] = ways[1], ways[0]
	}
	r, err := ways[0](ctx, k, off, n)
	if errors.Is(err, storage.ErrNotExist) {
		r, err = ways[1](ctx, k, off, n)
	}
	if err != nil {
		return nil, storage.Wrap("open", k, err)
	}
	return r, nil
}

// OpenFile implements [storage.KindOpener] with one request, also for a missing
// file.
func (a *Archive) OpenFile(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	err := mayOpen(ctx, k, off)
	if err != nil {
		return nil, err
	}
	r, err := a.openFile(ctx, k, off, n)
	if err != nil {
		return nil, storage.Wrap("open", k, err)
	}
	return r, nil
}

// OpenLog implements [storage.KindOpener] with a listing, and a GET for each roll-up
// and for each segment without one.
func (a *Archive) OpenLog(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, int64, error) {
	err := mayOpen(ctx, k, off)
	if err != nil {
		return nil, 0, err
	}
	r, size, err := a.openLog(ctx, k, func(int64) (int64, int64) { return off, n })
	if err != nil {
		return nil, 0, storage.Wrap("open", k, err)
	}
	return r, size, nil
}

// OpenEnd implements [storage.EndOpener] with the requests of OpenLog.
func (a *Archive) OpenEnd(ctx context.Context, k storage.Key, n int64) (io.ReadCloser, int64, error) {
	if err := storage.Begin(ctx, "open", k); err != nil {
		return nil, 0, err
	}
	off := func(size int64) int64 { return max(0, size-n) }
	r, size, err := a.openLog(ctx, k, func(size int64) (int64, int64) { return off(size), -1 })
	if err != nil {
		return nil, 0, storage.Wrap("open", k, err)
	}
	return r, off(size), nil
}

func mayOpen(ctx context.Context, k storage.Key, off int64) error {
	err := storage.Begin(ctx, "open", k)
	if err == nil && off < 0 {
		err = storage.Wrap("open", k, errNegative)
	}
	return err
}

func (a *Archive) openSegments(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	r, _, err := a.openLog(ctx, k, func(int64) (int64, int64) { return off, n })
	return r, err
}

func (a *Archive) openFile(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	return a.openObject(ctx, a.name(k), off, n)
}

var empty = io.NopCloser(bytes.NewReader(nil))

// exists returns [storage.ErrNotExist] if there is no such object.
func (a *Archive) exists(ctx context.Context, name string) error {
	_, err := a.head(ctx, name, "")
	if absent(err) {
		return storage.ErrNotExist
	}
	return err
}

func (a *Archive) openObject(ctx context.Context, name string, off, n int64) (io.ReadCloser, error) {
	if n == 0 { // no range can express that
		return empty, a.exists(ctx, name)
	}
	b := &body{a: a, ctx: ctx, name: name, off: off, left: math.MaxInt64}
	if n > 0 {
		b.left = n
	}
	b.whole = off == 0 && n < 0
	err := b.open()
	switch {
	case status(err) == http.StatusRequestedRangeNotSatisfiable:
		return empty, nil
	case absent(err):
		return nil, storage.ErrNotExist
	case err != nil:
		return nil, err
	}
	return b, nil
}

// body reads an object, and requests the rest after a broken connection. It
// must be used by one goroutine.
type body struct {
	a     *Archive
	ctx   context.Context // context of the caller of Open
	name  string
	meta  map[string]string
	etag  *string // makes sure that the rest belongs to the same object
	off   int64   // offset of the next byte
	left  int64   // bytes left to read
	whole bool    // no range was requested, so the SDK verifies the checksum
	// unsized: the answer has no length, so its end is the end of the object. A
	// chunked transfer that breaks off is an error.
	unsized bool

	r      io.ReadCloser
	cancel context.CancelFunc // cancels the request
	broken int                // consecutive breaks without a byte
}

// open requests the rest.
func (b *body) open() error {
	in := &s3.GetObjectInput{Bucket: &b.a.cfg.Bucket, Key: &b.name, IfMatch: b.etag}
	if !b.whole {
		span := fmt.Sprintf("bytes=%d-", b.off)
		if last := b.off + b.left - 1; last >= b.off {
			span += fmt.Sprint(last)
		}
		in.Range = &span
	}
	return b.a.call(b.ctx, 0, func(_ context.Context, client *s3.Client) error {
		// The body outlives the attempt, so it has its own context.
		ctx, cancel := context.WithCancel(b.ctx)
		stuck := time.AfterFunc(attemptTimeout, cancel)
		out, err := client.GetObject(ctx, in)
		if !stuck.Stop() && err == nil {
			err = errors.Join(context.DeadlineExceeded, out.Body.Close())
		}
		if err != nil {
			cancel()
			if b.ctx.Err() == nil && errors.Is(err, context.Canceled) {
				err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
			}
			return err
		}
		b.r, b.cancel, b.etag, b.meta = out.Body, cancel, out.ETag, out.Metadata
		if b.unsized = out.ContentLength == nil; !b.unsized {
			b.left = min(b.left, *out.ContentLength)
		}
		return nil
	})
}

// maxBreaks limits the consecutive breaks of a connection without a byte.
const maxBreaks = 5

// Read resumes a broken connection.
func (b *body) Read(p []byte) (int, error) {
	for {
		if b.left == 0 && !b.whole {
			return 0, io.EOF
		}
		stuck := time.AfterFunc(attemptTimeout, b.cancel)
		n, err := b.r.Read(p)
		stuck.Stop()
		b.off, b.left = b.off+int64(n), b.left-int64(n)
		if n > 0 {
			b.broken = 0
		}
		switch {
		case err == nil, n > 0:
			return n, nil // the next Read gets the error again
		case b.unsized && errors.Is(err, io.EOF):
			return 0, err
		case b.left == 0: // the end, or a wrong checksum
			return n, err
		case b.ctx.Err() != nil:
			return 0, b.ctx.Err()
		case b.broken == maxBreaks:
			return 0, fmt.Errorf("the connection broke %d times in a row: %w", maxBreaks, err)
		}
		b.broken++
		if err := b.reopen(); err != nil {
			return 0, err
		}
	}
}

func (b *body) reopen() error {
	_ = b.Close() // already broken
	b.whole = false
	if b.broken > 1 && !pause(b.ctx, b.broken) {
		return b.ctx.Err()
	}
	return b.open()
}

// Close ends the request.
func (b *body) Close() error {
	b.cancel()
	return b.r.Close()
}
