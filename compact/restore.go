package compact

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// restore stores the steps that only this process knows (storage.on_error:
// continue), after a transcript has shown that the archive works again. They get
// the next free numbers, in order, and refer to that transcript, which holds their
// removed messages as far as possible. The caller holds the session's commit lock.
// Steps that can't be stored stay in memory.
func (s *session) restore(ctx context.Context, on record.Written) error {
	base, volatile := s.unstored()
	for k := range volatile {
		step := volatile[k]
		step.Volatile, step.Archive, step.Evicted, step.Index = false, "", nil, nil // the transcript belongs to the next step
		var err error
		if base, err = s.commitAfter(ctx, base, step, on); err != nil {
			s.settle(base, volatile[k:])
			return err
		}
	}
	s.settle(base, nil)
	return nil
}

// unstored returns the stored steps, and the unstored steps after them.
func (s *session) unstored() (base, volatile []ledger.Step) {
	for _, step := range s.snapshot() {
		if step.Volatile {
			volatile = append(volatile, step)
		} else {
			base = append(base, step)
		}
	}
	return base, volatile
}

// commitAfter commits a step after the stored ones: base, and steps that others
// have committed since.
func (s *session) commitAfter(ctx context.Context, base []ledger.Step, step ledger.Step, on record.Written) ([]ledger.Step, error) {
	for range maxTries {
		for l, err := range s.log.Ledgers(ctx, len(base)+1) {
			if err != nil {
				return base, err
			}
			other, err := ledger.NewReader().Stored(l)
			if err != nil {
				return base, err
			}
			s.unseal(&other)
			s.noteChange(other.Changed)
			base = append(base, other)
		}
		step.Step = len(base) + 1
		raw, err := json.Marshal(s.toStore(step))
		if err != nil {
			return base, err
		}
		_, err = s.log.Commit(ctx, step.Step, s.redactor.Record(raw), on)
		switch {
		case err == nil:
			return append(base, step), nil
		case !errors.Is(err, storage.ErrExists) || ctx.Err() != nil:
			return base, err
		}
	}
	return base, errTaken
}

// settle replaces the known steps by the stored ones and the unstored ones
// after them.
func (s *session) settle(base, volatile []ledger.Step) {
	for k := range volatile {
		volatile[k].Step = len(base) + k + 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.stepsWeight = nil, 0
	for _, step := range append(base, volatile...) {
		s.learn(step)
	}
	for i := range s.edits.All {
		s.stepsWeight += weighStep(&s.edits.All[i])
	}
	s.volatile = len(volatile) > 0
}

// maxTries limits how many numbers one outcome tries. Each failed try means that
// another process has taken a number.
const maxTries = 1000
