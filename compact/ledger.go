package compact

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/seal"
)

// openSession reads the ledger of a session, which may be new.
func openSession(ctx context.Context, a storage.Archive, id string, keys *keyring) (*session, error) {
	log, err := record.OpenSession(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return openLog(ctx, id, log, keys)
}

// openToGoOn opens a session to continue it. It first completes an interrupted scrub.
func openToGoOn(ctx context.Context, a storage.Archive, id string, keys *keyring) (*session, error) {
	log, err := record.OpenSession(ctx, a, id)
	if err == nil {
		_, err = log.EndScrub(ctx)
	}
	if err != nil && !errors.Is(err, storage.ErrUnsupported) {
		return nil, err
	}
	return openLog(ctx, id, log, keys)
}

// openLog reads the ledger of the session with this id.
func openLog(ctx context.Context, id string, log *record.Session, keys *keyring) (*session, error) {
	s := &session{id: id, log: log, keys: keys, reserved: map[int]bool{}, origins: map[message.Fingerprint]map[int]policy.Origin{}, lanes: map[ledger.Owner]*lane{}}
	s.reads = lookup.New(id, log, book{s})
	return s, s.reload(ctx)
}

// reload reads the steps that others have committed since the last read.
func (s *session) reload(ctx context.Context) error {
	s.mu.Lock()
	from := len(s.steps) + 1
	s.mu.Unlock()
	fresh, err := ledger.ReadSteps(ctx, s.log, from)
	if err != nil {
		return err
	}
	for i := range fresh {
		s.unseal(&fresh[i])
	}
	s.mu.Lock()
	for _, step := range fresh {
		if step.Step == len(s.steps)+1 {
			s.learn(step)
			s.changes.note(step.Changed)
		}
	}
	s.mu.Unlock()
	return s.readEdits(ctx)
}

// replay applies, in order, every step whose prefix the history has. A history
// that is already the output of a step needs no edits. A step with an illegal
// outcome is left out, if legal is not nil.
func (s *session) replay(history []message.Message, of ledger.Owner, pins policy.Pins, forms policy.Forms, legal func([]message.Message, []int) error) replayed {
	var known func(message.Fingerprint) map[int]policy.Origin
	if s.originCount() > 0 {
		known = s.known
	}
	t := reduce.NewTrail(history, pins, forms, known)
	r := replayed{room: math.MaxInt, seen: new(viewCache)}
	for _, step := range s.course(of) {
		r.await(t, step.In)
		r.await(t, step.Out)
		switch {
		case t.Has(step.In):
			if step.Cuts() && step.In.N == t.Len() {
				r.room = 0 // pinned messages that follow can belong to the cut part
			}
			edits, err := t.Make(step.Trail(), legal)
			if err != nil {
				r.room = 0 // with later messages the edits can succeed
				continue
			}
			r.went(step)
			r.edits += edits
		case t.Has(step.Out):
			r.went(step)
		}
	}
	r.conv, r.chain = t.End()
	return r
}

// book is a session for readers of its archive.
type book struct{ s *session }

var _ lookup.Book = book{}

// Steps implements [lookup.Book].
func (b book) Steps() []ledger.Step { return b.s.snapshot() }

// Reload implements [lookup.Book].
func (b book) Reload(ctx context.Context) error { return b.s.reload(ctx) }

// Unarchived implements [lookup.Book].
func (b book) Unarchived() []ledger.Span {
	return ledger.Unarchived(b.s.snapshot(), b.s.logged(), b.s.keys.Current().ID())
}

// Edited implements [lookup.Book].
func (b book) Edited(fp message.Fingerprint) bool { return len(b.s.known(fp)) > 0 }

// Ring implements [lookup.Book].
func (b book) Ring() *seal.Ring { return b.s.keys.Ring }

// NoteChange implements [lookup.Book].
func (b book) NoteChange(e *storage.ChangedError) { b.s.noteChange(e) }

func (l *lane) replay(s *session, history []message.Message, of ledger.Owner, pins policy.Pins, forms policy.Forms) replayed {
	if l.memo.isCurrent(s, of) && l.memo.grow(history) {
		l.memo.recognize(s)
		return l.memo.now
	}
	if l.memo.now.conv != nil && inCommon(l.memo.history, history) < len(l.memo.history) {
		l.strands.change(l.memo.history, history)
	}
	l.dropPrepared()
	l.account.conv = nil // release the old conversation
	steps, _, edits := s.record(of)
	l.memo = memo{history: slices.Clone(history), steps: len(steps), edits: edits, origins: s.originCount()}
	l.memo.now = s.replay(history, of, pins, forms, nil)
	l.memo.recognized = l.memo.now.conv.Len()
	return l.memo.now
}

// isCurrent reports whether the lane has no new steps or edits since the memo was made.
// Steps and edits of other lanes have no effect.
func (m *memo) isCurrent(s *session, of ledger.Owner) bool {
	steps, _, edits := s.record(of)
	if m.now.conv == nil || m.steps > len(steps) || m.edits != edits {
		return false
	}
	for i := m.steps; i < len(steps); i++ {
		if steps[i].Owner() == of {
			return false
		}
	}
	m.steps = len(steps)
	return true
}

// recognize attaches the origins of messages that were already edited when the call
// received them. It looks at the new messages, or at all messages if the ledger has new
// origins.
func (m *memo) recognize(s *session) {
	n := s.originCount()
	if n == 0 {
		return
	}
	from := m.recognized
	if n != m.origins {
		from = 0
	}
	m.now.conv.Recognize(from, s.known)
	m.origins, m.recognized = n, m.now.conv.Len()
}
