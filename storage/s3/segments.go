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
	// segmentMark stands between a key and the offset of a segment. No key
	// has it, and it sorts before everything that a key can go on with: so a
	// listing has the segments of a log where the key would be.
	segmentMark   = "!"
	segmentDigits = 20
)

// segment is a piece of a log that is an object of its own.
type segment struct {
	start int64 // as its name says
	size  int64
	mark  string // of its writer ([terms]), if that is this Archive; "" else
	etag  string // what the server calls its content; "" is not known

	repeats bool // it is a [rollup]
	odd     bool // a roll-up that is not as long as its name says
}

func (s segment) end() int64 { return s.start + s.size }

func segmentName(key string, start int64) string {
	return fmt.Sprintf("%s%s%0*d", key, segmentMark, segmentDigits, start)
}

// parseSegment reads the name of a segment. It is false for other names.
func parseSegment(name string) (key string, start int64, ok bool) {
	key, digits, ok := strings.Cut(name, segmentMark)
	if !ok || len(digits) != segmentDigits {
		return "", 0, false
	}
	start, err := strconv.ParseInt(digits, 10, 64)
	return key, start, err == nil && start >= 0 && segmentName(key, start) == name
}

// nameOf is the name of the object that a segment or a roll-up of k is.
func (a *Archive) nameOf(k storage.Key, s segment) string {
	if s.repeats {
		return rollupName(a.name(k), s.start, s.end())
	}
	return segmentName(a.name(k), s.start)
}

// list lists what a log is made of.
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

// tail returns the last segment that is known of a log.
func (a *Archive) tail(k storage.Key) (segment, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s, ok := a.tails[k]
	return s, ok
}

// maxTails bounds the memory of tails; what is forgotten costs a listing.
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

// openLog opens a log. What was cut out of it is missing in what is read, which
// its chain shows.
func (a *Archive) openLog(ctx context.Context, k storage.Key, off, n int64) (r io.ReadCloser, size int64, err error) {
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
	pieces := a.pieces(k, all.segments, off, n)
	if !storage.Firsthand(ctx) {
		pieces = all.shorten(a.name(k), pieces)
	}
	return a.readPieces(ctx, pieces, a.keeper(k, all, pieces)), size, nil
}

// pieces returns what n bytes from off on are made of; n < 0 is all.
func (a *Archive) pieces(k storage.Key, all []segment, off, n int64) []piece {
	out := cut(all, off, n)
	for i := range out {
		out[i].name = segmentName(a.name(k), out[i].start)
	}
	return out
}

// learnTail keeps the end of a log that was listed, or that there is none, so that
// whoever appends next need not list it again: a segment that came since has the
// name that he takes.
func (a *Archive) learnTail(k storage.Key, all parts) {
	var last segment
	for _, s := range all.segments {
		if s.start != last.end() {
			return // the next to append finds out, and says so
		}
		last = s
	}
	a.setTail(k, last)
	a.learnRun(k, all, false)
}

// piece is what is wanted of a segment, or of a roll-up.
type piece struct {
	name   string
	start  int64 // of the segment
	off, n int64 // in the segment

	first, segments int     // which segments of the log it is, or repeats
	parts           []piece // what a roll-up stands for
	bond            string  // of a roll-up
}

// cut returns what n bytes from off on are made of; n < 0 is all.
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
	piecesAtOnce = 8
	// smallPiece is what is fetched ahead; larger ones are read as they come.
	smallPiece = 1 << 20
)

// readPieces reads pieces one after the other, and fetches small ones ahead: a
// log has one for each line or few.
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

// opened is a piece that was fetched, or that can be opened, or an error.
type opened struct {
	data string
	bond string // of a roll-up, as it says
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
		n = -1 // the whole, so that the checksum is looked at
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

// pieceReader belongs to one goroutine.
type pieceReader struct {
	ctx    context.Context // of the caller of Open, until Close
	cancel context.CancelFunc
	next   chan chan opened
	left   int // pieces that next still brings
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

// advance goes on to the next piece.
func (r *pieceReader) advance() error {
	c, ok := <-r.next
	if !ok && r.left > 0 {
		return r.ctx.Err() // which is why there is no more
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

// Close ends what is on its way.
func (r *pieceReader) Close() error {
	r.cancel()
	return r.closeCurrent()
}
