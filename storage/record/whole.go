package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"iter"

	"github.com/agentcompact/compact/storage"
)

// A Line is a line of a transcript with its place: in the transcript, or in an
// older file to which the transcript refers.
type Line struct {
	File   string
	Number int    // in File, from 1
	Off    int64  // in File, bytes
	Text   []byte // without the line feed; valid until the next iteration
}

// Whole yields the lines of a transcript, and inserts the lines to which it refers. The
// inserted lines are verified first; for changed lines it yields a
// *[storage.ChangedError] instead. The file itself is not verified. For a missing file
// the error is [storage.ErrNotExist]. An error is yielded last.
func (s *Session) Whole(ctx context.Context, name string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		r, err := s.Open(ctx, name, 0, -1)
		if err != nil {
			yield(Line{}, err)
			return
		}
		w := &whole{from: s.stretches(), ctx: ctx, name: name, yield: yield}
		err = eachMessage(ctx, r, w.line)
		err = errors.Join(err, r.Close())
		if err == nil || errors.Is(err, errStop) {
			return
		}
		if !errors.Is(err, storage.ErrChanged) {
			err = storage.Wrap("read", child(s.dir, name), err)
		}
		yield(Line{}, err)
	}
}

// whole is the state of [Session.Whole] while it reads one transcript.
type whole struct {
	from  *stretches
	ctx   context.Context
	name  string
	n     int
	yield func(Line, error) bool
}

func (w *whole) line(l rawLine) error {
	w.n++
	st, ok := parseStretch(l.text)
	if !ok {
		return w.one(Line{w.name, w.n, l.off, l.text})
	}
	data, err := w.from.read(w.ctx, w.name, st)
	if err != nil {
		return err
	}
	return eachOf(st, data, w.one)
}

func (w *whole) one(l Line) error {
	if !w.yield(l, nil) {
		return errStop
	}
	return nil
}

// eachOf calls fn for each line of a stretch. For a stretch within a stretch it returns
// ErrDamaged.
func eachOf(st Stretch, data []byte, fn func(Line) error) error {
	off := st.Off
	for n := range st.Lines {
		text, rest, _ := bytes.Cut(data, []byte("\n"))
		if _, nested := parseStretch(text); nested {
			return storage.ErrDamaged
		}
		if err := fn(Line{st.From, st.First + n, off, text}); err != nil {
			return err
		}
		off, data = off+int64(len(text))+1, rest
	}
	return nil
}

// Lines yields the lines of a transcript as [Session.Whole] does, without their
// places.
func (s *Session) Lines(ctx context.Context, name string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for l, err := range s.Whole(ctx, name) {
			if !yield(l.Text, err) {
				return
			}
		}
	}
}

// Placed is the place and the hash of a line of a transcript.
type Placed struct {
	File   string
	Number int   // in File, from 1
	Off    int64 // bytes
	Len    int64 // bytes, without the line feed
	SHA256 [sha256.Size]byte
}

func (l Line) placed() Placed {
	return Placed{l.File, l.Number, l.Off, int64(len(l.Text)), sha256.Sum256(l.Text)}
}

// stretchesAtOnce is the number of stretches that [Session.Places] reads at once,
// which bounds its memory.
const stretchesAtOnce = 4

// Places returns the place of each line of a transcript, in the order of the lines. It
// compares the file with the manifest, and each stretch with its reference. A
// *[storage.ChangedError] names a file that differs from the stored one; the unchanged
// lines are returned with it.
func (s *Session) Places(ctx context.Context, name string) ([]Placed, error) {
	var found []func() ([]Placed, error)
	from, n := s.stretches(), 0
	err := s.stored(ctx, name, func(l rawLine) {
		n++
		if st, ok := parseStretch(l.text); ok {
			found = append(found, func() ([]Placed, error) { return from.places(ctx, name, st) })
			return
		}
		at := []Placed{Line{name, n, l.off, l.text}.placed()}
		found = append(found, func() ([]Placed, error) { return at, nil })
	})
	if err != nil {
		return nil, err
	}
	return together(found)
}

// together calls the functions, at most stretchesAtOnce of them at once, and
// concatenates their results in order.
func together(all []func() ([]Placed, error)) (out []Placed, err error) {
	lists, errs := make([][]Placed, len(all)), make([]error, len(all))
	spread(len(all), stretchesAtOnce, func(i int) { lists[i], errs[i] = all[i]() })()
	for i := range lists {
		out = append(out, lists[i]...)
	}
	return out, errors.Join(errs...)
}

// places returns the places of the lines of a stretch.
func (r *stretches) places(ctx context.Context, in string, st Stretch) (out []Placed, err error) {
	data, err := r.read(ctx, in, st)
	if err != nil {
		return nil, err
	}
	err = eachOf(st, data, func(l Line) error {
		out = append(out, l.placed())
		return nil
	})
	return out, err
}
