package crypt

import (
	"context"
	"errors"
	"io"

	"github.com/agentcompact/compact/storage"
)

// part is a range of a piece.
type part struct {
	key    storage.Key
	off, n int64
	last   bool // the range ends at the end of the piece
}

// cut returns the parts with n bytes from off; n < 0: all bytes.
func cut(all []piece, off, n int64) (out []part) {
	at := int64(0)
	for _, p := range all {
		from := max(off-at, 0)
		at += p.size
		if from >= p.size || n == 0 {
			continue
		}
		take := p.size - from
		if n > 0 {
			take = min(take, n)
			n -= take
		}
		out = append(out, part{p.key, from, take, from+take == p.size})
	}
	return out
}

// logReader reads parts in order. It must be used by one goroutine.
type logReader struct {
	ctx  context.Context // context of the caller of Open
	a    *Archive
	left []part
	r    io.ReadCloser // reader of left[0]; nil: not open
	bad  bool          // left[0] can't be decrypted
}

func (r *logReader) Read(p []byte) (int, error) {
	for len(r.left) > 0 && len(p) > 0 {
		n, err := r.readPart(p[:min(int64(len(p)), r.left[0].n)])
		r.took(n)
		if errors.Is(err, storage.ErrChanged) || errors.Is(err, io.EOF) && len(r.left) > 0 && r.left[0].n > 0 {
			r.bad, err = true, nil
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err == nil && r.left[0].n == 0 {
			err = r.Close()
			r.left, r.bad = r.left[1:], false
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
	if len(p) == 0 {
		return 0, nil
	}
	return 0, io.EOF
}

func (r *logReader) took(n int) {
	r.left[0].n -= int64(n)
	r.left[0].off += int64(n)
}

func (r *logReader) readPart(p []byte) (n int, err error) {
	now := r.left[0]
	if r.bad {
		clear(p)
		if now.last && int64(len(p)) == now.n {
			p[len(p)-1] = '\n' // so that the next line begins properly
		}
		return len(p), nil
	}
	if r.r == nil {
		whole := now.n
		if now.off == 0 && now.last {
			whole = -1
		}
		if r.r, err = r.a.openObject(r.ctx, now.key, now.off, whole); err != nil {
			r.r = nil
			return 0, err
		}
	}
	return r.r.Read(p)
}

// Close ends the current read.
func (r *logReader) Close() error {
	c := r.r
	r.r = nil
	if c == nil {
		return nil
	}
	return c.Close()
}
