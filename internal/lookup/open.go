package lookup

import (
	"context"
	"sync"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/seal"
)

// Open reads the steps of a session, which may be empty, without a manager. It needs no keys, and writes
// nothing.
func Open(ctx context.Context, a storage.Archive, id string) (*Session, error) {
	log, err := record.OpenToRead(ctx, a, id)
	if err != nil {
		return nil, err
	}
	b := &book{log: log, edited: map[message.Fingerprint]bool{}}
	s := New(id, log, b)
	s.alone = true
	return s, b.Reload(ctx)
}

// book is the [Book] of a session that is opened for reading only. Without keys it has only the
// stored forms of fingerprints.
type book struct {
	log *record.Session

	mu     sync.Mutex
	steps  []ledger.Step
	edits  ledger.Edits
	edited map[message.Fingerprint]bool
}

var _ Book = (*book)(nil)

func (b *book) Steps() []ledger.Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.steps[:len(b.steps):len(b.steps)]
}

func (b *book) Reload(ctx context.Context) error {
	b.mu.Lock()
	next, from := len(b.steps)+1, b.edits.Read
	b.mu.Unlock()
	steps, err := ledger.ReadSteps(ctx, b.log, next)
	if err != nil {
		return err
	}
	edits, end, err := ledger.ReadEdits(ctx, b.log, from, b.NoteChange)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, step := range steps {
		if step.Step == len(b.steps)+1 {
			b.steps = append(b.steps, step)
			b.learn(&step)
		}
	}
	for _, e := range edits {
		if b.edits.Add(e) {
			b.learn(&e)
		}
	}
	b.edits.Read = max(b.edits.Read, end)
	return err
}

// learn remembers the edited messages of a step; the caller holds mu.
func (b *book) learn(step *ledger.Step) {
	for _, r := range step.Recipes {
		for i := range r.Texts {
			if _, ok := r.Texts[i].OriginOf(); ok {
				b.edited[r.Texts[i].Is] = true
			}
		}
	}
}

func (b *book) Unarchived() []ledger.Span {
	b.mu.Lock()
	defer b.mu.Unlock()
	return ledger.Unarchived(b.steps, b.edits.Logged(), "")
}

func (b *book) Edited(fp message.Fingerprint) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.edited[fp]
}

func (b *book) Ring() *seal.Ring { return nil }

func (b *book) NoteChange(*storage.ChangedError) {}
