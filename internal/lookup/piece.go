package lookup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// lineSums maps the offsets of a file's lines to their hashes.
type lineSums = map[int64][sha256.Size]byte

// maxSums limits the number of files whose line hashes a session remembers.
const maxSums = 4

// piece reads the line of a record and verifies it. The error is a
// *[storage.ChangedError] if the line was changed. A line above mostAtOnce is read only
// if a ledger has its length.
func (s *Session) piece(ctx context.Context, r turnindex.Record) ([]byte, error) {
	n, e := r.Len, s.evictedAt(r.File, r.Off)
	if e == nil || e.Len != r.Len {
		n = min(n, mostAtOnce)
	}
	line, err := s.log.Read(ctx, r.File, r.Off, n)
	switch {
	case err != nil:
	case e == nil && n < r.Len && int64(len(line)) == n && bytes.IndexByte(line, '\n') < 0:
		err = fmt.Errorf("the line at byte %d of %s has more than %d bytes, which is too much to be recalled at once: see compactctl archive export", r.Off, r.File, n)
	default:
		err = s.prove(ctx, r, line)
	}
	return line, err
}

// provenLines reads lines and verifies each.
func (s *Session) provenLines(ctx context.Context, p pieces) (map[ledger.Place][]byte, error) {
	lines, err := s.ReadLines(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, r := range p {
		if err := s.prove(ctx, r, lines[ledger.Place{File: r.File, Off: r.Off}]); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// prove verifies a line against its ledger. Lines that no step removed are in
// no ledger; for them, the whole file is read once and verified against the
// manifest.
func (s *Session) prove(ctx context.Context, r turnindex.Record, line []byte) error {
	if e := s.evictedAt(r.File, r.Off); e != nil && e.Len == r.Len {
		if e.Proves(line) {
			return nil
		}
		return e.Differs(r.File, line)
	}
	sums, err := s.sumsOf(ctx, r.File)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(line)
	want, ok := sums[r.Off]
	if r.File == record.EditsFile && (!ok || sum != want) { // the log may have grown
		s.forgetSums(r.File)
		if sums, err = s.sumsOf(ctx, r.File); err != nil {
			return err
		}
		want, ok = sums[r.Off]
	}
	if !ok || sum != want {
		e := &storage.ChangedError{File: r.File, Have: hex.EncodeToString(sum[:]), Detail: "a line differs from the index or the manifest"}
		if ok {
			e.Want = hex.EncodeToString(want[:])
		}
		return e
	}
	return nil
}

// evictedAt returns the ledger entry of the line at an offset of a file, nil if
// there is none.
func (s *Session) evictedAt(file string, off int64) *ledger.Eviction {
	steps := s.book.Steps()
	for k := len(steps) - 1; k >= 0; k-- {
		for i := range steps[k].Evicted {
			if e := &steps[k].Evicted[i]; e.Off == off && steps[k].At(e).File == file {
				return e
			}
		}
	}
	return nil
}

// sumsOf returns the line hashes of a file, which it verifies against the
// manifest.
func (s *Session) sumsOf(ctx context.Context, file string) (lineSums, error) {
	s.mu.Lock()
	sums := s.sums[file]
	s.mu.Unlock()
	if sums != nil {
		return sums, nil
	}
	sums, err := s.log.LineSums(ctx, file)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sums == nil || len(s.sums) >= maxSums {
		s.sums = map[string]lineSums{}
	}
	s.sums[file] = sums
	return sums, nil
}

func (s *Session) forgetSums(file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sums, file)
}

// wholeLines yields the verified lines of a transcript. Lines in other files
// are verified against their references.
func (s *Session) wholeLines(ctx context.Context, file string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		sums, err := s.sumsOf(ctx, file)
		if err != nil {
			yield(nil, err)
			return
		}
		for line, err := range s.log.Whole(ctx, file) {
			if err == nil && line.File == file && sums[line.Off] != sha256.Sum256(line.Text) {
				err = &storage.ChangedError{File: file, Detail: "it was changed while it was read"}
			}
			if !yield(line.Text, err) || err != nil {
				return
			}
		}
	}
}
