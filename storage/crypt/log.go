package crypt

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agentcompact/compact/storage"
)

// piece is an object with a part of a log.
type piece struct {
	key   storage.Key // key of the object
	start int64       // offset in the log, from its name
	size  int64       // size of the content
}

func (p piece) end() int64 { return p.start + p.size }

// pieces returns the pieces of a log, in order.
func (a *Archive) pieces(ctx context.Context, k storage.Key) ([]piece, error) {
	var out []piece
	for info, err := range a.inner.List(ctx, k) {
		if err != nil {
			return nil, err
		}
		if log, start, ok, _ := parse(info.Key); ok && log == k && info.Foreign == "" {
			out = append(out, piece{info.Key, start, contentSize(info.Size)})
		}
	}
	return out, nil
}

// Append implements [storage.Archive]. It creates a piece whose name is the expected
// length of the log.
func (a *Archive) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	err := a.append(ctx, k, seq, b)
	if err != nil {
		a.forgetTail(k)
	}
	return rewrap("append", k, err)
}

func (a *Archive) append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	last, err := a.lastPiece(ctx, k, seq)
	if err != nil {
		return err
	}
	if last.end() != seq {
		return storage.ErrSeq
	}
	if b.Size() == 0 {
		return nil
	}
	key, err := pieceKey(k, seq)
	if err != nil {
		return err
	}
	object, err := a.encrypted(ctx, b)
	if err != nil {
		return err
	}
	err = a.inner.Create(ctx, key, object)
	if errors.Is(err, storage.ErrExists) {
		return storage.ErrSeq
	}
	if err != nil {
		return err
	}
	if err := a.stillThere(ctx, last); err != nil {
		return errors.Join(err, a.takeBack(ctx, key))
	}
	a.setTail(k, piece{key, seq, b.Size()})
	return nil
}

// lastPiece returns the last piece of a log: the known piece if it ends at seq (pieces
// never change), otherwise the last piece in a listing.
func (a *Archive) lastPiece(ctx context.Context, k storage.Key, seq int64) (piece, error) {
	a.mu.Lock()
	last, ok := a.tails[k]
	a.mu.Unlock()
	if ok && last.end() == seq {
		return last, nil
	}
	all, err := a.pieces(ctx, k)
	if err != nil {
		return piece{}, err
	}
	last = piece{}
	for _, p := range all {
		if p.start != last.end() {
			return piece{}, fmt.Errorf("%w: after byte %d there is a piece that begins at %d", storage.ErrDamaged, last.end(), p.start)
		}
		last = p
	}
	return last, nil
}

// stillThere returns an error if the log was erased during the append, because only the
// new piece would then be left of the log.
func (a *Archive) stillThere(ctx context.Context, last piece) error {
	if last.end() == 0 {
		return nil
	}
	for info, err := range a.inner.List(ctx, last.key) {
		if err != nil {
			return err
		}
		if info.Key == last.key && contentSize(info.Size) == last.size {
			return nil
		}
	}
	return storage.ErrSeq
}

func (a *Archive) takeBack(ctx context.Context, key storage.Key) error {
	if r, ok := a.inner.(storage.Remover); ok {
		return r.Remove(ctx, key)
	}
	return nil
}

// maxTails limits the number of remembered tails. A log without one needs a listing.
const maxTails = 4096

func (a *Archive) setTail(k storage.Key, p piece) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.tails) >= maxTails {
		clear(a.tails)
	}
	a.tails[k] = p
}

func (a *Archive) forgetTail(k storage.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.tails, k)
}

func (a *Archive) isLog(k storage.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.tails[k]
	return ok
}

// openLog opens a log. A removed piece is missing in the content. A changed piece is
// replaced by the same number of invalid bytes, so that later pieces keep their
// offsets and the chain of lines shows the damage.
func (a *Archive) openLog(ctx context.Context, k storage.Key, off, n int64) (r io.ReadCloser, size int64, err error) {
	all, err := a.pieces(ctx, k)
	if err != nil {
		return nil, 0, err
	}
	if len(all) == 0 {
		return nil, 0, storage.ErrNotExist
	}
	for _, p := range all {
		size += p.size
	}
	return &logReader{ctx: ctx, a: a, left: cut(all, off, n)}, size, nil
}

func (a *Archive) openPieces(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	r, _, err := a.openLog(ctx, k, off, n)
	return r, err
}
