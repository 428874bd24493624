// Package lookup reads single messages from the archive of a session, and verifies each
// against the session's ledgers or manifest. Package recall is based on it, and package
// compact uses it for its sessions.
package lookup

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/seal"
	"github.com/agentcompact/compact/storage/turnindex"
)

// ErrNotFound means that the archive holds nothing under a reference.
var ErrNotFound = errors.New("compact: not in the archive")

// ErrMost means that a line is longer than [Ref.Most].
var ErrMost = errors.New("the line is longer than may be read")

// A Book holds the known steps of a session. Its methods are safe for concurrent use,
// and lists that it returns are immutable.
type Book interface {
	// Steps returns the known steps, in order.
	Steps() []ledger.Step
	// Reload reads the steps that others have committed since.
	Reload(ctx context.Context) error
	// Unarchived returns the parts of edits.jsonl with originals that no step has
	// archived under their reference.
	Unarchived() []ledger.Span
	// Edited reports whether a step edited a message into one with this fingerprint.
	Edited(fp message.Fingerprint) bool
	// Ring returns the keys that open fingerprints, nil if there are none.
	Ring() *seal.Ring
	// NoteChange records a file that was changed since it was stored.
	NoteChange(e *storage.ChangedError)
}

// A Session reads the archive of a session. It keeps its open indexes. It is safe for
// concurrent use. Its fields are not exported, because recall.Session is the same
// struct.
type Session struct {
	id    string
	log   *record.Session
	book  Book
	alone bool // see Alone

	mu            sync.Mutex
	tables        map[string]*turnindex.Table // open indexes by file
	rebuilt       map[int]*turnindex.Table    // by step, replacements for damaged or missing indexes
	rebuiltWeight int64                       // memory of rebuilt, in bytes
	sums          map[string]lineSums         // by file, for files that were checked against the manifest
}

// New returns the Session of a manager, which has the book.
func New(id string, log *record.Session, book Book) *Session {
	return &Session{id: id, log: log, book: book, tables: map[string]*turnindex.Table{}, rebuilt: map[int]*turnindex.Table{}}
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Log returns the session's files.
func (s *Session) Log() *record.Session { return s.log }

// Book returns the known steps of the session.
func (s *Session) Book() Book { return s.book }

// Alone reports whether the session was opened by [Open]. Package recall turns panics
// in such a session into errors. For the Session of a manager, the manager does so, and
// logs them.
func (s *Session) Alone() bool { return s.alone }

// Weight returns the approximate memory, in bytes, that [Session.Slim] releases.
func (s *Session) Weight() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rebuiltWeight
}

// Slim releases the memory of data that can be read again.
func (s *Session) Slim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rebuilt, s.rebuiltWeight = map[int]*turnindex.Table{}, 0
}

// Tables returns the number of open indexes.
func (s *Session) Tables() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tables)
}

// Forget closes an index. It is reopened if it is needed.
func (s *Session) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tables, name)
}

// Ours reports whether compactions of the session made or edited a message, whose
// fingerprint is fp.
func (s *Session) Ours(m *message.Message, fp message.Fingerprint) bool {
	_, notice := policy.ParseNotice(*m)
	return notice || policy.IsSummary(*m) || s.book.Edited(fp)
}

// isChange reports whether an error is a [storage.ChangedError], and records it.
func (s *Session) isChange(err error) bool {
	var e *storage.ChangedError
	if !errors.As(err, &e) {
		return false
	}
	s.book.NoteChange(e)
	return true
}

// Text returns the text of a reference. The error for one that the archive does not
// have is a *[Missing].
func (s *Session) Text(ctx context.Context, q Ref) (string, error) {
	text, found, err := s.Find(ctx, q)
	if err == nil && !found {
		err = &Missing{q.Text, cmp.Or(s.otherSlots(ctx, q), s.thereAre(q))}
	}
	return text, err
}
