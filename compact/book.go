package compact

import (
	"context"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/seal"
)

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
