package crypt

import (
	"bytes"
	"context"
	"errors"
	"io"

	"filippo.io/age"

	"github.com/agentcompact/compact/storage"
)

var errNegative = errors.New("the offset is negative")

// Open implements [storage.Archive]. A whole file needs one request to the inner
// archive; a range of a large file needs four: size, header, end, and range.
func (a *Archive) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	ways := []func(context.Context, storage.Key, int64, int64) (io.ReadCloser, error){a.openFile, a.openPieces}
	if a.isLog(k) {
		ways[0], ways[1] = ways[1], ways[0]
	}
	return opening(ctx, k, off, func() (io.ReadCloser, error) {
		r, err := ways[0](ctx, k, off, n)
		if errors.Is(err, storage.ErrNotExist) {
			r, err = ways[1](ctx, k, off, n)
		}
		return r, err
	})
}

// OpenFile implements [storage.KindOpener].
func (a *Archive) OpenFile(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	return opening(ctx, k, off, func() (io.ReadCloser, error) { return a.openFile(ctx, k, off, n) })
}

// OpenLog implements [storage.KindOpener].
func (a *Archive) OpenLog(ctx context.Context, k storage.Key, off, n int64) (r io.ReadCloser, size int64, err error) {
	r, err = opening(ctx, k, off, func() (r io.ReadCloser, err error) {
		r, size, err = a.openLog(ctx, k, off, n)
		return r, err
	})
	return r, size, err
}

// opening checks the arguments, and adds the key to errors.
func opening(ctx context.Context, k storage.Key, off int64, open func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	if err := storage.Begin(ctx, "open", k); err != nil {
		return nil, err
	}
	if off < 0 {
		return nil, rewrap("open", k, errNegative)
	}
	r, err := open()
	if err != nil {
		return nil, rewrap("open", k, ofFile(err, k))
	}
	return &keyedReader{r, k}, nil
}

// keyedReader is a reader that adds its key to errors.
type keyedReader struct {
	r io.ReadCloser
	k storage.Key
}

func (r *keyedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = rewrap("read", r.k, ofFile(err, r.k))
	}
	return n, err
}

// ofFile sets the file in a [storage.ChangedError].
func ofFile(err error, k storage.Key) error {
	if e := new(storage.ChangedError); errors.As(err, &e) && e.File == "" {
		e.File = k.Base()
	}
	return err
}

func (r *keyedReader) Close() error { return r.r.Close() }

func (a *Archive) openFile(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	inner, err := fileKey(k)
	if err != nil {
		return nil, storage.ErrNotExist
	}
	return a.openObject(ctx, inner, off, n)
}

// openObject decrypts an object, or a range of it.
func (a *Archive) openObject(ctx context.Context, inner storage.Key, off, n int64) (io.ReadCloser, error) {
	if off == 0 && n < 0 {
		return a.openWhole(ctx, inner)
	}
	return a.openRange(ctx, inner, off, n)
}

func (a *Archive) openWhole(ctx context.Context, inner storage.Key) (io.ReadCloser, error) {
	body, err := storage.OpenFile(ctx, a.inner, inner, 0, -1)
	if err != nil {
		return nil, err
	}
	src := &source{Reader: body}
	header := make([]byte, headerSize)
	n, err := io.ReadFull(src, header)
	if err != nil {
		return nil, errors.Join(a.keys.damaged(src, header[:n], err), body.Close())
	}
	plain, err := age.Decrypt(io.MultiReader(bytes.NewReader(header), src), a.opened.identities(a.keys, header)...)
	if err != nil {
		return nil, errors.Join(a.keys.damaged(src, header, err), body.Close())
	}
	return &content{Reader: plain, c: body, why: func(err error) error { return a.keys.damaged(src, header, err) }}, nil
}

// damaged returns the error of the inner archive, or else the reason why the
// object can't be decrypted.
func (k *Keys) damaged(src *source, header []byte, err error) error {
	if src.err != nil {
		return src.err
	}
	return k.unread(header, err)
}

// source records the error of a reader.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// content is a reader of decrypted content.
type content struct {
	io.Reader
	c   io.Closer
	why func(error) error
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = c.why(err)
	}
	return n, err
}

func (c *content) Close() error { return c.c.Close() }

// openRange reads a range. It reads and verifies whole chunks, and the end of the
// object, so that a truncated object is detected.
func (a *Archive) openRange(ctx context.Context, inner storage.Key, off, n int64) (io.ReadCloser, error) {
	size, err := a.sizeOf(ctx, inner)
	if err != nil {
		return nil, err
	}
	content := contentSize(size)
	end := content
	if n >= 0 && off < content {
		end = min(content, off+n)
	}
	c := &cursor{ctx: ctx, a: a.inner, k: inner, size: size, until: min(size, objectSize(wholeChunks(end)))}
	header := make([]byte, headerSize)
	if err := c.keep(size); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	read, _ := c.ReadAt(header, 0)
	plain, _, err := age.DecryptReaderAt(c, size, a.opened.identities(a.keys, header[:read])...)
	if err == nil && content < end {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, errors.Join(c.why(a.keys, header[:read], err), c.Close())
	}
	if off >= content {
		off, end = 0, 0
	}
	return &contentRange{io.NewSectionReader(plain, off, end-off), c, func(err error) error { return c.why(a.keys, header, err) }}, nil
}

// wholeChunks returns the end of the chunk that holds the last of n bytes, because
// chunks are decrypted whole.
func wholeChunks(n int64) int64 { return (n + chunkSize - 1) / chunkSize * chunkSize }

type contentRange struct {
	*io.SectionReader
	c   io.Closer
	why func(error) error
}

func (r *contentRange) Read(p []byte) (int, error) {
	n, err := r.SectionReader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.why(err)
	}
	return n, err
}

// Close ends the current read.
func (r *contentRange) Close() error { return r.c.Close() }

func (a *Archive) sizeOf(ctx context.Context, inner storage.Key) (int64, error) {
	for info, err := range a.inner.List(ctx, inner) {
		if err != nil {
			return 0, err
		}
		if info.Key == inner && info.Foreign == "" {
			return info.Size, nil
		}
	}
	return 0, storage.ErrNotExist
}
