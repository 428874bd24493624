package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/storage"
)

const (
	// segmentMark separates a key and the offset of a segment. No key contains
	// it, and it sorts before all characters of keys, so that a listing has the
	// segments of a log at the place of the key.
	segmentMark   = "!"
	segmentDigits = 20
)

// segment is an object with a piece of a log.
type segment struct {
	start int64 // offset in the log, from its name
	size  int64
	mark  string // mark of its write ([terms]), if this Archive wrote it; otherwise ""
	etag  string // ETag; "" = unknown

	repeats bool // the object is a [rollup]
	odd     bool // a roll-up whose size does not fit its name
}

func (s segment) end() int64 { return s.start + s.size }

func segmentName(key string, start int64) string {
	return fmt.Sprintf("%s%s%0*d", key, segmentMark, segmentDigits, start)
}

// parseSegment parses the name of a segment. It returns false for any other
// name.
func parseSegment(name string) (key string, start int64, ok bool) {
	key, digits, ok := strings.Cut(name, segmentMark)
	if !ok || len(digits) != segmentDigits {
		return "", 0, false
	}
	start, err := strconv.ParseInt(digits, 10, 64)
	return key, start, err == nil && start >= 0 && segmentName(key, start) == name
}

// nameOf returns the object name of a segment or roll-up of k.
func (a *Archive) nameOf(k storage.Key, s segment) string {
	if s.repeats {
		return rollupName(a.name(k), s.start, s.end())
	}
	return segmentName(a.name(k), s.start)
}

// list returns the objects of a log.
func (a *Archive) list(ctx context.Context, k storage.Key) (out parts, err error) {
	for o, err := range a.objects(ctx, k.String()+segmentMark) {
		if err != nil {
			return parts{}, err
		}
		if key, start, ok := parseSegment(o.name); ok && key == k.String() {
			out.segments = append(out.segments, segment{start: start, size: o.size, etag: o.etag})
		}
		if key, start, end, ok := parseRollup(o.name); ok && key == k.String() {
			out.rollups = append(out.rollups, rollup{start: start, size: end - start, repeats: true, odd: o.size != end-start})
		}
	}
	return out, nil
}

// tail returns the last known segment of a log.
func (a *Archive) tail(k storage.Key) (segment, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.tails[k]
	return s, ok
}

// maxTails limits the number of remembered tails. A log without one needs a listing.
const maxTails = 4096

func (a *Archive) setTail(k storage.Key, s segment) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.tails) >= maxTails {
		clear(a.tails)
	}
	a.tails[k] = s
}

func (a *Archive) forgetTail(k storage.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.tails, k)
}

// openLog opens the range of a log that span returns for its size. Removed segments are
// missing in the content; the chain of its lines shows the gap.
func (a *Archive) openLog(ctx context.Context, k storage.Key, span func(size int64) (off, n int64)) (r io.ReadCloser, size int64, err error) {
	all, err := a.list(ctx, k)
	if err != nil {
		return nil, 0, err
	}
	a.learnTail(k, all)
	if len(all.segments) == 0 {
		return nil, 0, storage.ErrNotExist
	}
	for _, s := range all.segments {
		size += s.size
	}
	off, n := span(size)
	pieces := a.pieces(k, all.segments, off, n)
	if !storage.Firsthand(ctx) {
		pieces = all.shorten(a.name(k), pieces)
	}
	return a.readPieces(ctx, pieces, a.keeper(k, all, pieces)), size, nil
}

// pieces returns the pieces with n bytes from off; n < 0: all bytes.
func (a *Archive) pieces(k storage.Key, all []segment, off, n int64) []piece {
	out := cut(all, off, n)
	for i := range out {
		out[i].name = segmentName(a.name(k), out[i].start)
	}
	return out
}

// learnTail remembers the end of a listed log, or that there is no log, so that the next
// append needs no listing. If another writer has added a segment since, the append tries
// to use the same name, and fails.
func (a *Archive) learnTail(k storage.Key, all parts) {
	var last segment
	for _, s := range all.segments {
		if s.start != last.end() {
			return // the next append detects and reports it
		}
		last = s
	}
	a.setTail(k, last)
	a.learnRun(k, all, false)
}

// piece is a range of a segment or roll-up.
type piece struct {
	name   string
	start  int64 // offset of the segment
	off, n int64 // range in the segment

	first, segments int     // index of its first segment, and number of segments
	parts           []piece // pieces that a roll-up replaces
	bond            string  // bond of a roll-up
}

// cut returns the pieces with n bytes from off, without names; n < 0: all bytes.
func cut(all []segment, off, n int64) []piece {
	var out []piece
	at := int64(0)
	for i, s := range all {
		from := max(off-at, 0)
		at += s.size
		if from >= s.size || n == 0 {
			continue
		}
		take := s.size - from
		if n > 0 {
			take = min(take, n)
			n -= take
		}
		out = append(out, piece{start: s.start, off: from, n: take, first: i, segments: 1})
	}
	return out
}

const (
	piecesAtOnce = 16
	// smallPiece is the size in bytes up to which a piece is fetched ahead.
	// Larger ones are streamed.
	smallPiece = 1 << 20
)

// readPieces reads pieces in order, and fetches small ones ahead, because a log
// may have a piece for each line.
func (a *Archive) readPieces(ctx context.Context, pieces []piece, keep *keeper) io.ReadCloser {
	ctx, cancel := context.WithCancel(ctx)
	r := &pieceReader{ctx: ctx, cancel: cancel, left: len(pieces), keep: keep, next: make(chan chan opened, piecesAtOnce)}
	go func() {
		defer close(r.next)
		for _, p := range pieces {
			c := make(chan opened, 1)
			select {
			case r.next <- c:
			case <-ctx.Done():
				return
			}
			if p.n > smallPiece {
				c <- opened{open: func() (io.ReadCloser, error) { return a.openObject(ctx, p.name, p.off, p.n) }}
				continue
			}
			go func() { c <- a.fetch(ctx, p) }()
		}
	}()
	return r
}

// opened is a fetched piece, a function that opens one, or an error.
type opened struct {
	data string
	bond string // bond in the metadata of a roll-up
	open func() (io.ReadCloser, error)
	err  error
}

func (a *Archive) fetch(ctx context.Context, p piece) opened {
	if len(p.parts) > 0 {
		return a.fetchRollup(ctx, p)
	}
	return a.fetchObject(ctx, p)
}

func (a *Archive) fetchObject(ctx context.Context, p piece) opened {
	n := p.n
	if p.off == 0 {
		n = -1 // whole object, so that the checksum is verified
	}
	r, err := a.openObject(ctx, p.name, p.off, n)
	if err != nil {
		return opened{err: err}
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return opened{err: err}
	}
	o := opened{data: string(data[:min(p.n, int64(len(data)))])}
	if b, ok := r.(*body); ok {
		o.bond = b.meta[ofName]
	}
	return o
}

// pieceReader reads pieces in order. It must be used by one goroutine.
type pieceReader struct {
	ctx    context.Context // context of the caller of Open, until Close
	cancel context.CancelFunc
	next   chan chan opened
	left   int // pieces still to come from next
	keep   *keeper
	r      io.Reader
	c      io.Closer
}

func (r *pieceReader) Read(p []byte) (int, error) {
	for {
		if r.r == nil {
			if err := r.advance(); err != nil {
				return 0, err
			}
		}
		n, err := r.r.Read(p)
		if n > 0 || err == nil {
			return n, nil
		}
		cerr := r.closeCurrent()
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if cerr != nil {
			return 0, cerr
		}
	}
}

// advance switches to the next piece.
func (r *pieceReader) advance() error {
	c, ok := <-r.next
	if !ok && r.left > 0 {
		return r.ctx.Err() // the reason for the missing pieces
	}
	if !ok {
		r.keep.end()
		return io.EOF
	}
	r.left--
	o := <-c
	r.keep.add(o)
	return r.take(o)
}

func (r *pieceReader) take(o opened) error {
	switch {
	case o.err != nil:
		return o.err
	case o.open == nil:
		r.r = strings.NewReader(o.data)
		return nil
	}
	body, err := o.open()
	if err != nil {
		return err
	}
	r.r, r.c = body, body
	return nil
}

func (r *pieceReader) closeCurrent() error {
	c := r.c
	r.r, r.c = nil, nil
	if c == nil {
		return nil
	}
	return c.Close()
}

// Close ends all requests.
func (r *pieceReader) Close() error {
	r.cancel()
	return r.closeCurrent()
}
