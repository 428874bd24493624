package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// maxLedgerBytes limits the bytes of a ledger that are read.
const maxLedgerBytes = 64 << 20

// ledgerLines holds the manifest's records of ledgers, and of the summaries of their
// steps, newest first. It is an immutable linked list: a caller that reads further lines
// in advance discards them by not storing the new head.
type ledgerLines struct {
	step   int // 0: the record is of a summary
	is     fileHash
	done   int // highest step recorded as committed
	before *ledgerLines
}

// and returns the list, extended by the entries of r that are about a ledger or a
// summary.
func (l *ledgerLines) and(r record) *ledgerLines {
	for _, h := range r.Scrubbed {
		if step, ok := ledgerKind.number(h.Name); h.File && (ok || hasKind(h.Name, summaryKind)) {
			l = &ledgerLines{step: step, is: h.fileHash, done: l.committed(), before: l}
		}
	}
	for _, f := range r.With {
		if hasKind(f.Name, summaryKind) {
			l = &ledgerLines{is: f, done: l.committed(), before: l}
		}
	}
	if r.Op != opCommit && r.Op != opDone || r.Step < 1 || r.Name != ledgerKind.file(r.Step, 1) {
		return l
	}
	more := &ledgerLines{step: r.Step, is: r.fileHash, done: l.committed(), before: l}
	if r.Op == opDone {
		more.done = max(more.done, r.Step)
	}
	return more
}

// committed returns the highest step recorded as committed.
func (l *ledgerLines) committed() int {
	if l == nil {
		return 0
	}
	return l.done
}

// announced returns the highest step announced since the last step was recorded as
// committed, 0 if there is none.
func (l *ledgerLines) announced() (step int) {
	for done := l.committed(); l != nil && l.done == done; l = l.before {
		step = max(step, l.step)
	}
	return step
}

// of returns the records of a step's ledger, newest first.
func (l *ledgerLines) of(step int) (said []fileHash) {
	for ; l != nil; l = l.before {
		if l.step == step {
			said = append(said, l.is)
		}
	}
	return said
}

// together returns how many ledgers may be read concurrently, beginning with a step.
func (l *ledgerLines) together(step int) int {
	n, bytes := 1, int64(0)
	for ; n < ledgersAtOnce && step+n <= l.committed(); n++ {
		if bytes += largest(l.of(step + n - 1)); bytes+largest(l.of(step+n)) > ledgerBytesAtOnce {
			break
		}
	}
	return n
}

// largest returns the largest recorded size of a ledger in bytes, at most maxLedgerBytes.
// Without a recorded size it returns maxLedgerBytes.
func largest(said []fileHash) int64 {
	most := int64(0)
	for _, h := range said {
		most = max(most, h.Bytes)
	}
	if most <= 0 || most > maxLedgerBytes {
		return maxLedgerBytes
	}
	return most
}

// summary returns the records of a summary, newest first.
func (l *ledgerLines) summary(name string) (said []fileHash) {
	for ; l != nil; l = l.before {
		if l.is.Name == name {
			said = append(said, l.is)
		}
	}
	return said
}

// differs describes how a ledger differs from its records.
func differs(name string, said []fileHash, have fileHash) *storage.ChangedError {
	e := &storage.ChangedError{File: name, Have: have.SHA256}
	if len(said) == 0 {
		e.Detail = "the manifest does not list it"
		return e
	}
	e.Want = said[0].SHA256
	if have.SHA256 == "" {
		e.Detail = fmt.Sprintf("it is larger than the limit of %d bytes", have.Bytes)
	}
	return e
}

// LineSums reads a whole transcript and verifies it against the manifest. The error is
// [storage.ErrChanged] for a changed file, and [ErrScrubbed] or [ErrUnplaced] for a file
// that a scrub is replacing. It returns the SHA-256 of each of its lines, without the line
// feed, by the offset of the line. For edits.jsonl it returns those of the originals, verified
// by the chain of the log.
func (s *Session) LineSums(ctx context.Context, name string) (map[int64][sha256.Size]byte, error) {
	sums := map[int64][sha256.Size]byte{}
	if name == editsName {
		return sums, s.originalSums(ctx, sums)
	}
	err := s.stored(ctx, name, func(l rawLine) { sums[l.off] = sha256.Sum256(l.text) })
	if err != nil {
		return nil, err
	}
	return sums, nil
}

// stored calls fn for each line of a file, and then verifies the file.
func (s *Session) stored(ctx context.Context, name string, fn func(rawLine)) error {
	was, _ := s.manifest.known()
	return s.orScrub(ctx, was, s.asStored(ctx, name, fn))
}

// orScrub returns err, or the error of the scrub that caused it. A scrub can be the cause
// only if err reports a missing or different file. Then orScrub returns [ErrScrubbed] if
// a scrub was recorded since the session was opened. It returns [ErrUnplaced] if the
// manifest has a scrub that is interrupted or in progress, now or in the earlier state
// was.
func (s *Session) orScrub(ctx context.Context, was tail, err error) error {
	if !errors.Is(err, storage.ErrChanged) && !errors.Is(err, storage.ErrNotExist) {
		return err
	}
	t, rerr := s.manifest.refresh(ctx)
	switch {
	case rerr != nil || t.facts.erasing:
		return err
	case !s.knowsAll(t.facts):
		return &storage.Error{Op: "read", Key: s.dir, Err: ErrScrubbed}
	case was.facts.scrub != nil || t.facts.scrub != nil:
		return &storage.Error{Op: "read", Key: s.dir, Err: ErrUnplaced}
	}
	return err
}

// asStored does the work of stored. It does not check for concurrent scrubs.
func (s *Session) asStored(ctx context.Context, name string, fn func(rawLine)) error {
	said, err := s.recorded(ctx, name)
	if err != nil {
		return err
	}
	r, err := s.Open(ctx, name, 0, -1)
	if err != nil {
		return err
	}
	all := sha256.New()
	counted := &counter{r: io.TeeReader(r, all)}
	err = eachMessage(ctx, counted, func(l rawLine) error { fn(l); return nil })
	if err := errors.Join(err, r.Close()); err != nil {
		return storage.Wrap("read", child(s.dir, name), err)
	}
	have := fileHash{name, counted.n, hex.EncodeToString(all.Sum(nil))}
	if !slices.Contains(said, have) {
		return differs(name, said, have)
	}
	return nil
}

// rehashed returns records that were made before a scrub, with the hashes after the
// scrub.
func rehashed(said []fileHash, by []rehash) []fileHash {
	for i, f := range said {
		for _, h := range by {
			if f.Name == h.Name && f.SHA256 == h.Was && (h.File || f.Bytes == h.Bytes) {
				said[i] = h.fileHash
			}
		}
	}
	return said
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// recorded returns the manifest's records of a file. Changed lines are ignored.
func (s *Session) recorded(ctx context.Context, name string) (said []fileHash, err error) {
	for l, err := range checkedLines(ctx, s.manifest, 0) {
		if err != nil {
			return nil, err
		}
		r, ok := parseRecord(l.Body)
		if !ok || l.Changed {
			continue
		}
		for _, f := range append(r.With, r.fileHash) {
			if f.Name == name && f.SHA256 != "" {
				said = append(said, f)
			}
		}
		said = rehashed(said, r.Scrubbed)
	}
	return said, nil
}
