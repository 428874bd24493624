package compact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/turnindex"
)

// lineSums is what the lines of a file hash to, by their offsets.
type lineSums = map[int64][sha256.Size]byte

// maxSums bounds the files whose lines a session remembers the hashes of.
const maxSums = 4

// piece reads what a record points to, and holds it against what was stored: a
// *[storage.ChangedError] otherwise.
func (s *session) piece(ctx context.Context, r turnindex.Record) ([]byte, error) {
	line, err := s.log.Read(ctx, r.File, r.Off, min(r.Len, mostAtOnce))
	if err == nil {
		err = s.prove(ctx, r, line)
	}
	return line, err
}

// provenLines is readLines, each of them held against what was stored.
func (s *session) provenLines(ctx context.Context, p pieces) (map[lineAt][]byte, error) {
	lines, err := s.readLines(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, r := range p {
		if err := s.prove(ctx, r, lines[lineAt{r.File, r.Off}]); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// prove holds a line against the ledger that names it. Lines that no step took
// out are named by none: for those the whole file is read once and held against
// the manifest.
func (s *session) prove(ctx context.Context, r turnindex.Record, line []byte) error {
	if e := s.evictedAt(r.File, r.Off); e != nil && e.Len == r.Len {
		if e.proves(line) {
			return nil
		}
		return e.differs(r.File, line)
	}
	sums, err := s.sumsOf(ctx, r.File)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(line)
	want, ok := sums[r.Off]
	if !ok || sum != want {
		e := &storage.ChangedError{File: r.File, Have: hex.EncodeToString(sum[:]), Detail: "a line is another than the index or the manifest says"}
		if ok {
			e.Want = hex.EncodeToString(want[:])
		}
		return e
	}
	return nil
}

// evictedAt returns what a ledger says of the line at an offset of a file.
func (s *session) evictedAt(file string, off int64) *eviction {
	steps := s.snapshot()
	for k := len(steps) - 1; k >= 0; k-- {
		for i := range steps[k].Evicted {
			if e := &steps[k].Evicted[i]; e.Off == off && steps[k].at(e).file == file {
				return e
			}
		}
	}
	return nil
}

// proves reports whether a line is the one that was taken out.
func (e *eviction) proves(line []byte) bool {
	sum := sha256.Sum256(line)
	return e.SHA256 == hex.EncodeToString(sum[:])
}

// differs says how a line of a file is not the one that was taken out.
func (e *eviction) differs(file string, line []byte) *storage.ChangedError {
	sum := sha256.Sum256(line)
	return &storage.ChangedError{File: file, Want: e.SHA256, Have: hex.EncodeToString(sum[:]), Detail: "the line of message " + e.FP.String()[:12] + " is another"}
}

// sumsOf returns what the lines of a file hash to. The file was held against the
// manifest before.
func (s *session) sumsOf(ctx context.Context, file string) (lineSums, error) {
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

// wholeLines yields the lines of a transcript that is what was stored. What it
// refers to was held against the reference.
func (s *session) wholeLines(ctx context.Context, file string) iter.Seq2[[]byte, error] {
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
