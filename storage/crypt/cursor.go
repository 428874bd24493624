package crypt

import (
	"context"
	"errors"
	"io"

	"github.com/agentcompact/compact/storage"
)

// smallObject is the size in bytes up to which an object is fetched whole, in one
// request.
const smallObject = 256 << 10

// cursor reads an object at any offset. Consecutive reads share one request. It
// must be used by one goroutine.
type cursor struct {
	ctx   context.Context // context of the caller of Open
	a     storage.Archive
	k     storage.Key
	size  int64
	until int64 // offset at which reads end; only the method keep reads after it

	kept []stretch // the header and the end, or the whole of a small object
	r    io.ReadCloser
	at   int64 // offset of the next byte of r
	err  error // error of the inner archive
}

type stretch struct {
	off  int64
	data []byte
}

// keep fetches the parts that are read more than once.
func (c *cursor) keep(size int64) error {
	if size <= smallObject {
		return c.fetch(0, size)
	}
	chunks := (size - headerSize - nonceSize - 1) / (chunkSize + chunkTag)
	last := headerSize + nonceSize + chunks*(chunkSize+chunkTag)
	if err := c.fetch(0, headerSize+nonceSize); err != nil {
		return err
	}
	return c.fetch(last, size-last)
}

func (c *cursor) fetch(off, n int64) error {
	r, err := storage.OpenFile(c.ctx, c.a, c.k, off, n)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	c.kept = append(c.kept, stretch{off, data})
	return nil
}

// ReadAt implements [io.ReaderAt].
func (c *cursor) ReadAt(p []byte, off int64) (int, error) {
	for _, s := range c.kept {
		if from := off - s.off; from >= 0 && (from+int64(len(p)) <= int64(len(s.data)) || len(c.kept) == 1) {
			n := copy(p, s.data[min(from, int64(len(s.data))):])
			if n < len(p) {
				return n, io.EOF
			}
			return n, nil
		}
	}
	n, err := c.follow(p, off)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		c.err = err
	}
	return n, err
}

func (c *cursor) follow(p []byte, off int64) (int, error) {
	if c.r == nil || off != c.at {
		if err := c.Close(); err != nil {
			return 0, err
		}
		r, err := c.a.Open(c.ctx, c.k, off, max(c.until-off, int64(len(p))))
		if err != nil {
			return 0, err
		}
		c.r, c.at = r, off
	}
	n, err := io.ReadFull(c.r, p)
	c.at += int64(n)
	return n, err
}

// why returns the error of the inner archive, or else the reason why the object
// can't be decrypted.
func (c *cursor) why(k *Keys, header []byte, err error) error {
	if c.err != nil {
		return c.err
	}
	return k.unread(header, err)
}

// Close ends the current read.
func (c *cursor) Close() error {
	r := c.r
	c.r = nil
	if r == nil {
		return nil
	}
	return r.Close()
}
