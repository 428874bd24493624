package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/storage"
)

// Ledger is the ledger of a committed step.
type Ledger struct {
	Step int
	Data []byte // owned by the caller; nil if it was changed. It includes the summary of its step, even if the summary is stored in another file

	// Changed, if not nil, reports that the ledger differs from the manifest or is
	// missing, and must not be used. The other steps are not affected.
	Changed *storage.ChangedError

	is fileHash
}

// Ledgers yields the ledgers of the committed steps, beginning with step from (1 for
// all), in order. Each is checked against its line of the manifest. An error is yielded
// last. For a file that a scrub is replacing it is [ErrScrubbed] or [ErrUnplaced].
func (s *Session) Ledgers(ctx context.Context, from int) iter.Seq2[Ledger, error] {
	return func(yield func(Ledger, error) bool) {
		for step := max(from, 1); ; {
			for _, l := range s.ledgersFrom(ctx, step) {
				if errors.Is(l.err, storage.ErrNotExist) {
					return
				}
				if !yield(l.Ledger, l.err) || l.err != nil {
					return
				}
				step++
			}
		}
	}
}

// readLedger is a ledger, or the error of reading it.
type readLedger struct {
	Ledger
	err error
}

// Limits of the ledgers that are read concurrently: their number, and their bytes as the
// manifest announces them. Only the ledgers of known steps are read concurrently, because
// each ledger and each summary costs a round trip.
const (
	ledgersAtOnce     = 32
	ledgerBytesAtOnce = maxLedgerBytes
)

// ledgersFrom reads the ledger of a step, and some of the following ones.
func (s *Session) ledgersFrom(ctx context.Context, step int) []readLedger {
	t, _ := s.manifest.known()
	out := make([]readLedger, t.facts.ledgers.together(step))
	if len(out) == 1 {
		out[0].Ledger, out[0].err = s.ledger(ctx, step)
		return out
	}
	spread(len(out), len(out), func(i int) { out[i].Ledger, out[i].err = s.ledger(ctx, step+i) })()
	return out
}

// ledger reads the ledger of a step and verifies it against the manifest.
func (s *Session) ledger(ctx context.Context, step int) (Ledger, error) {
	known, _ := s.manifest.known()
	return s.ledgerUpTo(ctx, step, largest(known.facts.ledgers.of(step)))
}

// ledgerUpTo is like ledger, and keeps at most the given number of bytes of the file in
// memory, unless the manifest turns out to record more.
func (s *Session) ledgerUpTo(ctx context.Context, step int, most int64) (Ledger, error) {
	name := ledgerKind.file(step, 1)
	r, err := storage.OpenFile(ctx, s.a, child(s.dir, name), 0, -1)
	if errors.Is(err, storage.ErrNotExist) {
		return s.vanished(ctx, step, err)
	}
	if err != nil {
		return unreadLedger(step, err)
	}
	data, have, err := readHashed(&ctxReader{ctx, r}, most)
	if err := errors.Join(err, r.Close()); err != nil {
		return unreadLedger(step, storage.Wrap("read", child(s.dir, name), err))
	}
	have.Name = name
	l := Ledger{Step: step, is: have}
	said, err := s.saidOf(ctx, l)
	switch {
	case err != nil:
		return Ledger{}, err
	case have.Bytes > most && largest(said) > most && slices.Contains(said, have):
		return s.ledgerUpTo(ctx, step, largest(said)) // another process has announced it since
	case have.Bytes > maxLedgerBytes:
		l.Changed = differs(name, said, fileHash{Bytes: maxLedgerBytes})
	case !slices.Contains(said, l.is):
		l.Changed = differs(name, said, l.is)
	default:
		return s.withSummary(ctx, l, data)
	}
	return l, nil
}

// readHashed reads a file up to most bytes, and returns size and hash of the whole file. It
// stops one byte after maxLedgerBytes.
func readHashed(r io.Reader, most int64) (data []byte, is fileHash, err error) {
	hash := sha256.New()
	all := io.TeeReader(io.LimitReader(r, maxLedgerBytes+1), hash)
	if data, err = io.ReadAll(io.LimitReader(all, most)); err != nil {
		return nil, fileHash{}, err
	}
	rest, err := io.Copy(io.Discard, all)
	return data, fileHash{Bytes: int64(len(data)) + rest, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// summaryIn is the member of a ledger that replaces a summary by the name of its
// file: "summary_in":"summary-001.json". Within a JSON string its quotes would be
// escaped.
var summaryIn = []byte(`"summary_in":"`)

// withSummary sets the data of a ledger, and inserts the summaries from their files. If
// a summary was changed, the ledger counts as changed.
func (s *Session) withSummary(ctx context.Context, l Ledger, data []byte) (Ledger, error) {
	for {
		at := bytes.Index(data, summaryIn)
		if at < 0 {
			l.Data = data
			return l, nil
		}
		name, rest, ended := bytes.Cut(data[at+len(summaryIn):], []byte(`"`))
		if !ended || !hasKind(string(name), summaryKind) {
			l.Changed = &storage.ChangedError{File: l.is.Name, Have: l.is.SHA256, Detail: "it names no file that has a summary"}
			return l, nil
		}
		text, err := s.summary(ctx, string(name))
		if changed := new(storage.ChangedError); errors.As(err, &changed) {
			l.Changed = changed
			return l, nil
		}
		if err != nil {
			return Ledger{}, err
		}
		data = slices.Concat(data[:at], []byte(`"summary":`), text, rest)
	}
}

// maxSummaryBytes limits the bytes of a summary that are read.
const maxSummaryBytes = 16 << 20

// summary reads a summary and verifies it against the manifest.
func (s *Session) summary(ctx context.Context, name string) ([]byte, error) {
	was, _ := s.manifest.known()
	text, err := s.Read(ctx, name, 0, maxSummaryBytes+1)
	switch {
	case errors.Is(err, storage.ErrNotExist):
		return nil, s.orScrub(ctx, was, &storage.ChangedError{File: name, Detail: "it is missing"})
	case err != nil:
		return nil, err
	}
	have := fileHash{name, int64(len(text)), hashOf(text)}
	t, _ := s.manifest.known()
	said := t.facts.ledgers.summary(name)
	if !slices.Contains(said, have) {
		if t, err = s.manifest.refresh(ctx); err != nil {
			return nil, err
		}
		said = t.facts.ledgers.summary(name)
	}
	if !slices.Contains(said, have) || jsonscan.Check(text) != nil || bytes.Contains(text, summaryIn) {
		return nil, differs(name, said, have)
	}
	return bytes.TrimSpace(text), nil
}

// unreadLedger returns a changed ledger for a [storage.ChangedError], and any other error
// unchanged.
func unreadLedger(step int, err error) (Ledger, error) {
	if changed := new(storage.ChangedError); errors.As(err, &changed) {
		return Ledger{Step: step, Changed: changed}, nil
	}
	return Ledger{}, err
}

// saidOf returns the manifest's records of a ledger. There can be several records,
// because several processes announce a ledger before one of them wins the number.
func (s *Session) saidOf(ctx context.Context, l Ledger) ([]fileHash, error) {
	t, _ := s.manifest.known()
	if said := t.facts.ledgers.of(l.Step); slices.Contains(said, l.is) {
		return said, nil
	}
	t, err := s.manifest.refresh(ctx)
	return t.facts.ledgers.of(l.Step), err
}

// vanished returns the outcome for a missing ledger: err if the step is not
// committed or the session was erased, otherwise a changed ledger, because it was
// removed.
func (s *Session) vanished(ctx context.Context, step int, err error) (Ledger, error) {
	was, _ := s.manifest.known()
	if was.facts.ledgers.committed() < step {
		return Ledger{}, err
	}
	t, rerr := s.manifest.refresh(ctx)
	switch {
	case errors.Is(rerr, ErrErased), rerr == nil && t.facts.erasing:
		return Ledger{}, err
	case rerr != nil:
		return Ledger{}, rerr
	}
	e := &storage.ChangedError{File: ledgerKind.file(step, 1), Detail: "it is missing"}
	if said := t.facts.ledgers.of(step); len(said) > 0 {
		e.Want = said[0].SHA256
	}
	return unreadLedger(step, s.orScrub(ctx, was, e))
}
