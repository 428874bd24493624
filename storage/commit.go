package storage

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/redact"
)

// confirmTimeout bounds the one write that a commit still does after the step
// is committed, whatever its context says by then.
const confirmTimeout = 5 * time.Second

// Commit commits a step: it creates ledger-NNN.json, the last file of the
// step. Steps begin at 1 and have no holes.
//
// files are those that the step stands on, whatever number their names carry:
// where several write steps of one session at once, a transcript is stored
// before anybody knows which number its step gets. Without any, they are all
// that this Session stored under the number of the step.
//
// [ErrExists] means that somebody else has committed this step: read its
// ledger ([Session.Ledgers]), and take the next number or decide anew. [ErrStep]
// means that the step before is not committed, or that there is neither a
// transcript nor originals among the files. [ErrScrubbed] and [ErrErased] say what
// somebody else did while the ledger was on its way, however long that took. After
// any other error, and [ErrScrubbed], the step is not acknowledged, but may be
// committed; [Session.Head] tells.
func (s *Session) Commit(ctx context.Context, step int, ledger redact.Text, files ...Written) (Written, error) {
	return s.CommitOf(ctx, step, []redact.Text{ledger}, files...)
}

// CommitOf is Commit for a ledger in pieces.
func (s *Session) CommitOf(ctx context.Context, step int, ledger []redact.Text, files ...Written) (Written, error) {
	if step < 1 {
		return Written{}, &Error{"commit", s.dir, ErrStep}
	}
	key := s.dir.child(ledgerKind.file(step, 1))
	with, err := s.mayCommit(ctx, key, step, files)
	if err != nil {
		return Written{}, err
	}
	blob := Redacted(ledger...)
	if blob.Size() > maxLedgerBytes {
		return Written{}, &Error{"commit", key, ErrLine}
	}
	rec := put(fileHash{key.Base(), blob.Size(), blob.SHA256()})
	rec.Op, rec.Step, rec.With = opCommit, step, with
	if err := s.announce(ctx, rec); err != nil {
		return Written{}, err
	}
	s.making(key, blob)
	err = s.a.Create(ctx, key, blob)
	s.made(key, blob, err)
	if errors.Is(err, ErrExists) {
		s.committed(step)
	}
	if err != nil {
		return Written{}, err
	}
	if rec.late() {
		if err := s.standing(ctx); err != nil {
			return Written{}, err
		}
	}
	if err := s.confirm(ctx, rec); err != nil {
		return Written{}, err
	}
	s.committed(step)
	return s.written(key, rec), nil
}

// mayCommit returns the files of the step, or why it cannot be committed.
func (s *Session) mayCommit(ctx context.Context, key Key, step int, files []Written) ([]fileHash, error) {
	head, err := s.Head(ctx)
	if err != nil {
		return nil, err
	}
	if step <= head {
		return nil, &Error{"commit", key, ErrExists}
	}
	with := s.filesOf(step, files)
	if step != head+1 || !archives(with) {
		return nil, &Error{"commit", key, ErrStep}
	}
	return with, nil
}

// filesOf returns the files of a step: those that are named, or what was
// stored under its number.
func (s *Session) filesOf(step int, named []Written) []fileHash {
	if len(named) == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pending[step]
	}
	var out []fileHash
	for _, w := range named {
		if w.Key.Has(s.dir) {
			out = append(out, fileHash{w.Key.Base(), w.Bytes, w.SHA256})
		}
	}
	return out
}

// archives reports whether there is a transcript, or originals, among files.
func archives(files []fileHash) bool {
	for _, f := range files {
		if hasKind(f.Name, transcriptKind) || hasKind(f.Name, originalsKind) {
			return true
		}
	}
	return false
}

// announce records that a ledger is about to be created, and before that what
// others left unsaid: that the ledger before it exists, and how far the logs
// go.
func (s *Session) announce(ctx context.Context, rec record) error {
	before, err := s.unconfirmed(ctx, rec.Step-1)
	if err != nil {
		return err
	}
	records := append(s.marks(), rec)
	if before != nil {
		records = append([]record{*before}, records...)
	}
	return s.record(ctx, records...)
}

// unconfirmed returns the line that says that the ledger of step exists, or
// nil where the manifest says so already. Whoever committed it may have died
// before saying it.
func (s *Session) unconfirmed(ctx context.Context, step int) (*record, error) {
	if t, _ := s.manifest.known(); step < 1 || t.facts.ledgers.committed() >= step {
		return nil, nil
	}
	t, err := s.manifest.refresh(ctx)
	if err != nil || t.facts.ledgers.committed() >= step {
		return nil, err
	}
	l, err := s.ledger(ctx, step)
	if err != nil || l.Changed != nil { // what is not what was announced is confirmed by nobody
		return nil, err
	}
	rec := put(l.is)
	rec.Step = step
	rec = rec.done()
	return &rec, nil
}

// confirm says in the manifest that a step is committed, and in the heads what the
// manifest is now. When it cannot, the next commit says it: the step is committed
// by its ledger alone. It is [ErrErased] where the session was erased while the ledger
// was on its way, which is then removed, and [ErrScrubbed] where it was scrubbed, or
// is being: the ledger may name what stands there no more.
func (s *Session) confirm(ctx context.Context, rec record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	records := []record{rec.done()}
	err := s.sayNow(ctx, func(facts) ([]string, error) { return bodies(records), nil })
	switch {
	case err == nil:
		s.settle(records)
	case errors.Is(err, ErrErased), errors.Is(err, ErrScrubbed):
		return err
	case errors.Is(err, ErrUnplaced): // who opens the session anew ends it
		return &Error{"commit", s.dir, ErrScrubbed}
	}
	s.told(ctx, head{Op: headCommit, Step: rec.Step})
	return nil
}

// committed remembers that a step is, and forgets what was pending up to it.
func (s *Session) committed(step int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head = max(s.head, step)
	for n := range s.pending {
		if n <= step {
			delete(s.pending, n)
		}
	}
}

// Head returns the highest committed step, 0 when there is none. Once known it
// costs one failing Open to see that nobody has committed since.
func (s *Session) Head(ctx context.Context) (int, error) {
	said, _ := s.manifest.known()
	s.mu.Lock()
	low := max(s.head, said.facts.ledgers.committed())
	s.mu.Unlock()
	// Steps have no holes: gallop up from what is known, then halve.
	width := 1
	for {
		ok, err := s.exists(ctx, s.dir.child(ledgerKind.file(low+width, 1)))
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		low, width = low+width, width*2
	}
	high := low + width // known not to be committed
	for low+1 < high {
		mid := low + (high-low)/2
		ok, err := s.exists(ctx, s.dir.child(ledgerKind.file(mid, 1)))
		if err != nil {
			return 0, err
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	s.committed(low)
	return low, nil
}
