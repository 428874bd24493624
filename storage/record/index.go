package record

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
	"github.com/agentcompact/compact/storage/turnindex"
)

// Index stores the turn index of a step, as turns-NNN.idx or the next free attempt. The
// set must not be modified in the meantime.
func (s *Session) Index(ctx context.Context, step int, set *turnindex.Set) (Written, error) {
	blob, err := s.indexBlob(set)
	if err != nil {
		return Written{}, err
	}
	return s.write(ctx, indexKind, step, blob)
}

// FinalIndex stores the turn index of a transcript that [Session.Final] has
// stored, as turns-final-NNN.idx.
func (s *Session) FinalIndex(ctx context.Context, final Written, set *turnindex.Set) (Written, error) {
	n, ok := finalKind.number(final.Key.Base())
	if !ok {
		return Written{}, &storage.Error{Op: "write", Key: final.Key, Err: ErrStep}
	}
	blob, err := s.indexBlob(set)
	if err != nil {
		return Written{}, err
	}
	w, rec, err := s.create(ctx, finalIndexKind.file(n, 1), blob)
	if err != nil {
		return Written{}, err
	}
	return w, s.record(ctx, rec.done())
}

// indexBlob encodes a set. Its file names must be segments of keys, so that the
// index contains no text.
func (s *Session) indexBlob(set *turnindex.Set) (storage.Blob, error) {
	for _, name := range set.Files() {
		if reason := segment.Check(name); reason != "" {
			return storage.Blob{}, &storage.Error{Op: "write", Key: child(s.dir, indexKind.name), Err: &storage.KeyError{Text: name, Reason: reason}}
		}
	}
	return blobOf(string(set.Encode())), nil
}

// FinalIndexName returns the name of the index of a final transcript, and
// false for any other file.
func FinalIndexName(transcript string) (string, bool) {
	n, ok := finalKind.number(transcript)
	if !ok {
		return "", false
	}
	return finalIndexKind.file(n, 1), true
}

// IsOriginals reports whether a file holds only the originals of changed
// messages, rather than a whole transcript.
func IsOriginals(name string) bool { return hasKind(name, originalsKind) }

// OpenIndex opens a turn index of the session. It reads the header; the table reads its
// pages from the archive. For a changed index the error is [turnindex.ErrDamaged].
func (s *Session) OpenIndex(ctx context.Context, name string) (*turnindex.Table, error) {
	return turnindex.Open(ctx, func(ctx context.Context, off, n int64) ([]byte, error) {
		return s.Read(ctx, name, off, n)
	})
}

// Read returns at most n bytes of a file of the session, from off. It returns fewer
// bytes only at the end of the file, and no bytes for a negative n. It calls Open of
// the archive once.
func (s *Session) Read(ctx context.Context, name string, off, n int64) ([]byte, error) {
	r, err := s.Open(ctx, name, off, n)
	if err != nil {
		return nil, err
	}
	data, err := readAtMost(&ctxReader{ctx, r}, n)
	return data, storage.Wrap("read", child(s.dir, name), errors.Join(err, r.Close()))
}

// readAtMost reads up to n bytes. Its memory depends on the available bytes,
// not on n, which can come from a file.
func readAtMost(r io.Reader, n int64) (data []byte, err error) {
	const size, first = 1 << 20, 64 << 10 // above size, n is a limit and not the expected size
	if n > size {
		data = make([]byte, 0, first)
	} else {
		data = make([]byte, 0, max(0, n))
	}
	for int64(len(data)) < n {
		switch {
		case len(data) < cap(data):
		case len(data) < size:
			data = slices.Grow(data, len(data))
		default:
			data = append(data, 0)[:len(data)]
		}
		m, err := r.Read(data[len(data):min(int64(cap(data)), n)])
		data = data[:len(data)+m]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return data, err
		}
	}
	return data, nil
}
