package record

import (
	"context"
	"errors"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// confirmTimeout limits the requests that complete or undo an operation after its
// outcome is decided, such as the last write of a commit. These requests ignore the end
// of the caller's context.
const confirmTimeout = 5 * time.Second

// Commit commits a step: it creates ledger-NNN.json, the last file of the
// step. The numbers of steps begin at 1 and have no gaps.
//
// files are the files that the step depends on. Their names may contain another number,
// because a transcript may be stored before the number of its step is known. Without
// files, Commit takes all files that this Session stored under the number of the step.
//
// [storage.ErrExists] means that another process has committed this step: read its ledger
// ([Session.Ledgers]), and retry with the next number. [ErrStep] means that the step
// before is not committed, or that there is neither a transcript nor originals among the
// files. [ErrScrubbed] and [ErrErased] mean that the session was scrubbed or erased while
// the ledger was being stored. After any other error, and after [ErrScrubbed], it is
// unknown whether the step is committed; call [Session.Head] to find out.
func (s *Session) Commit(ctx context.Context, step int, ledger redact.Text, files ...Written) (Written, error) {
	done, err := s.CommitStep(ctx, Step{
		Number: step, Files: files,
		Ledger: func([]Written) ([]redact.Text, error) { return []redact.Text{ledger}, nil },
	})
	return done.Ledger, err
}

// CommitStep commits a step with drafts, which are announced together with the
// ledger and stored before it.
func (s *Session) CommitStep(ctx context.Context, step Step) (Committed, error) {
	if step.Number < 1 {
		return Committed{}, &storage.Error{Op: "commit", Key: s.dir, Err: ErrStep}
	}
	key := child(s.dir, ledgerKind.file(step.Number, 1))
	with, err := s.mayCommit(ctx, key, step)
	// The earlier steps may have been erased, or may belong to a session that began later.
	if errors.Is(err, ErrStep) || errors.Is(err, storage.ErrExists) {
		err = s.settleManifest(ctx, err)
	}
	if err != nil {
		return Committed{}, err
	}
	p, err := s.prepare(ctx, key, step, with)
	if err == nil {
		err = s.storeStep(ctx, key, step, p)
	}
	if err != nil {
		return Committed{}, s.settleManifest(ctx, err)
	}
	return Committed{s.written(key, p.rec), p.drafts}, nil
}

// storeStep stores the announced files of a step.
func (s *Session) storeStep(ctx context.Context, key storage.Key, step Step, p *prepared) error {
	if err := s.storeDrafts(ctx, step, p); err != nil {
		return err
	}
	if p.rec.late() { // a concurrent scrub may not have waited for the ledger
		if err := s.standing(ctx); err != nil {
			return err
		}
	}
	return s.createLedger(ctx, key, step.Number, p)
}

// settleManifest returns the error of a failed commit. If the session was erased in the
// meantime, it returns [ErrErased], even if another failure came first. In that case it
// removes the files of the commit, because the erase may not have listed them. If the
// archive does not answer now, the next append checks for an erase.
func (s *Session) settleManifest(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	_ = s.events.settle(ctx) // removes the step's lines if their log was removed
	err := s.manifest.settle(ctx)
	_, checks := s.a.(storage.Deferrer)
	if checks && !errors.Is(err, storage.ErrSeq) && !errors.Is(failed, ErrErased) && !errors.Is(failed, storage.ErrNotExist) && !errors.Is(failed, ErrStep) && !errors.Is(failed, storage.ErrExists) {
		return failed // the manifest exists, so an erase still lists the files; or its state is unknown
	}
	if gone, _ := s.withdraw(ctx); gone && !errors.Is(failed, ErrErased) {
		return errors.Join(&storage.Error{Op: "commit", Key: s.dir, Err: ErrErased}, failed)
	}
	return failed
}

// createLedger creates the ledger of a step, and confirms it.
func (s *Session) createLedger(ctx context.Context, key storage.Key, step int, p *prepared) error {
	err := s.createFile(ctx, key, p.ledger)
	if errors.Is(err, storage.ErrExists) {
		s.committed(step)
	}
	if err != nil {
		return err
	}
	if p.rec.late() {
		if err := s.standing(ctx); err != nil {
			return err
		}
	}
	if err := s.confirm(ctx, p.rec); err != nil {
		return err
	}
	s.committed(step)
	return nil
}

// mayCommit returns the stored files of the step, or an error if it can't be committed.
// If the step follows the known head, mayCommit makes no request: if another process was
// first, the creation of the ledger fails.
func (s *Session) mayCommit(ctx context.Context, key storage.Key, step Step) ([]fileHash, error) {
	head := s.knownHead()
	if step.Number > head+1 {
		var err error
		if head, err = s.Head(ctx); err != nil {
			return nil, err
		}
	}
	if step.Number <= head {
		return nil, &storage.Error{Op: "commit", Key: key, Err: storage.ErrExists}
	}
	var with []fileHash
	if len(step.Files) > 0 || !step.archives() {
		with = s.filesOf(step.Number, step.Files)
	}
	if step.Number != head+1 || !archives(with) && !step.archives() {
		return nil, &storage.Error{Op: "commit", Key: key, Err: ErrStep}
	}
	return with, nil
}

// filesOf returns the files of a step: the named files, or else the files stored under
// its number.
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

// archives reports whether files include a transcript or originals.
func archives(files []fileHash) bool {
	for _, f := range files {
		if hasKind(f.Name, transcriptKind) || hasKind(f.Name, originalsKind) {
			return true
		}
	}
	return false
}

// unconfirmed returns the record that confirms the ledger of step, or nil if the
// manifest has this record. The record is missing if the process that committed the
// step died before it wrote it.
func (s *Session) unconfirmed(ctx context.Context, step int) (*record, error) {
	if t, _ := s.manifest.known(); step < 1 || t.facts.ledgers.committed() >= step {
		return nil, nil
	}
	t, err := s.manifest.refresh(ctx)
	if err != nil || t.facts.ledgers.committed() >= step {
		return nil, err
	}
	l, err := s.ledger(ctx, step)
	if err != nil || l.Changed != nil { // a changed ledger is not confirmed
		return nil, err
	}
	rec := put(l.is)
	rec.Step = step
	rec = rec.done()
	return &rec, nil
}

// confirmLast confirms the last announced step, if its ledger is stored and the
// manifest does not confirm it yet. It makes no request if the manifest has the record.
func (s *Session) confirmLast(ctx context.Context) error {
	t, _ := s.manifest.known()
	rec, err := s.unconfirmed(ctx, t.facts.ledgers.announced())
	if errors.Is(err, storage.ErrNotExist) {
		return nil // not stored yet, or never
	}
	if err != nil || rec == nil {
		return err
	}
	_, err = s.manifest.append(ctx, func(f facts) ([]string, error) {
		if f.erasing || f.scrub != nil || f.scrubs != t.facts.scrubs || f.ledgers.committed() >= rec.Step {
			return nil, nil
		}
		return bodies([]record{*rec}), nil
	})
	return err
}

// confirm records in the manifest that a step is committed, with the lengths of the logs.
// It then records the new end of the manifest in the heads. If one of the two fails, the
// step is committed nevertheless by its ledger, and the next commit or head makes the
// missing record. If the session was erased in the meantime, confirm removes the ledger
// and returns [ErrErased]. If the session was scrubbed, or a scrub is in progress, it
// returns [ErrScrubbed], because the ledger can refer to rewritten files.
func (s *Session) confirm(ctx context.Context, rec record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	records := append(s.marks(), rec.done())
	err := s.sayNow(ctx, func(facts) ([]string, error) { return bodies(records), nil })
	switch {
	case err == nil:
		s.settle(records)
	case errors.Is(err, ErrErased), errors.Is(err, ErrScrubbed):
		return err
	case errors.Is(err, ErrUnplaced): // opening the session again completes it
		return &storage.Error{Op: "commit", Key: s.dir, Err: ErrScrubbed}
	}
	s.told(ctx, head{Op: headCommit, Step: rec.Step})
	return nil
}

// committed records that a step is committed, and discards the pending files up
// to it.
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

// Head returns the highest committed step, 0 if there is none. If there are no new
// steps, a later call costs one failing Open.
func (s *Session) Head(ctx context.Context) (int, error) {
	low := s.knownHead()
	// Steps have no gaps: double the distance from the known step, then bisect.
	width := 1
	for {
		ok, err := s.exists(ctx, child(s.dir, ledgerKind.file(low+width, 1)))
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
		ok, err := s.exists(ctx, child(s.dir, ledgerKind.file(mid, 1)))
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

// knownHead returns the highest known step, without I/O.
func (s *Session) knownHead() int {
	said, _ := s.manifest.known()
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.head, said.facts.ledgers.committed())
}
