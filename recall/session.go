package recall

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/internal/panics"
	"github.com/agentcompact/compact/storage"
)

// The errors of this package for [errors.Is].
var (
	// ErrNotFound means that the archive holds nothing under this reference.
	ErrNotFound = lookup.ErrNotFound
	// ErrSession means that the session id is empty.
	ErrSession = errors.New("compact: the session id is empty")
	// ErrInternal means that the call panicked, in this package or in the archive. The
	// default logger of package log/slog has the stack.
	ErrInternal = panics.ErrInternal
)

// A ReadError reports that the archive could not be read. Err is an error of package
// storage or of the context, or names the ledger that can't be read.
type ReadError struct {
	Session string
	Err     error
}

func (e *ReadError) Error() string {
	return "compact: archive failed (read): " + strings.ReplaceAll(e.Err.Error(), "\n", "; ") // one line in a log
}

func (e *ReadError) Unwrap() error { return e.Err }

// Text returns text that was removed from a session's view, redacted. sessionID is the
// id as the archive lists it, which is a hash if the id holds a secret. For ref, the
// options and further errors see [Session.Text]; the error is also [ErrSession] for an
// empty id.
func Text(ctx context.Context, archive storage.Archive, sessionID, ref string, opts ...Option) (text string, err error) {
	defer panics.Into(&err, "Recall")
	q, err := lookup.ParseRef(ref)
	if err != nil {
		return "", err
	}
	s, err := Open(ctx, archive, sessionID)
	if err != nil {
		return "", err
	}
	return s.text(ctx, q, opts)
}

// Search returns the lines that match a pattern in the text that was removed from a
// session's view, redacted. sessionID is the id as the archive lists it. For the other
// parameters and further errors see [Session.Search]; the error is also [ErrSession] for
// an empty id.
func Search(ctx context.Context, archive storage.Archive, sessionID string, pattern *regexp.Regexp, most int, opts ...SearchOption) (found Found, err error) {
	s, err := Open(ctx, archive, sessionID)
	if err != nil {
		return Found{}, err
	}
	return s.Search(ctx, pattern, most, opts...)
}

// A Session is one session of an archive, for several reads; [Text] and [Search] read its
// ledgers each time. It keeps the content of ledgers and indexes in memory, and no text.
// It needs no Close, and is safe for concurrent use. After a scrub of the session, its
// methods return a [storage.ErrChanged] or [record.ErrScrubbed]; open the session again.
type Session lookup.Session

// Open reads the steps of a session; for an unknown session it returns an empty session.
// sessionID is the id as the archive lists it. During or after an interrupted scrub it reads
// the scrubbed form ([record.OpenToRead]). Errors are [ErrSession] for an empty id, a
// *[ReadError], and [ErrInternal].
func Open(ctx context.Context, archive storage.Archive, sessionID string) (s *Session, err error) {
	defer panics.Into(&err, "Open")
	if sessionID == "" {
		return nil, ErrSession
	}
	r, err := lookup.Open(ctx, archive, sessionID)
	if err != nil {
		return nil, &ReadError{sessionID, err}
	}
	return (*Session)(r), nil
}

// Text returns text that was removed from the session's view, redacted. ref is the
// reference in a placeholder; the first 8 or more hex digits of the fingerprint of a
// message or a part; "s12" or "s12-s20", as a summary cites messages, of which it
// returns the first 50; "turn:17" for a whole turn; or "turn:17:observation" for one of its
// slots (request, reasoning, action, observation). Without options it is the whole text.
//
// After the headers of the indexes are read, a call reads one page of the turn index and
// one range of the transcript. Text in no index is looked up in steps that were committed
// since [Open], and then in final transcripts without an index and in the journal. Errors
// are [ErrNotFound], also for an invalid ref, a *[ReadError], and [ErrInternal].
func (s *Session) Text(ctx context.Context, ref string, opts ...Option) (text string, err error) {
	defer s.rescue("Recall", &err)
	q, err := lookup.ParseRef(ref)
	if err != nil {
		return "", err
	}
	return s.text(ctx, q, opts)
}

func (s *Session) text(ctx context.Context, q lookup.Ref, opts []Option) (string, error) {
	text, err := s.lookup().Text(ctx, q)
	if err != nil {
		return "", s.failed(err)
	}
	return choose(text, opts), nil
}

func (s *Session) lookup() *lookup.Session { return (*lookup.Session)(s) }

// rescue, deferred, turns a panic into an error, unless a manager does.
func (s *Session) rescue(call string, err *error) {
	if !s.lookup().Alone() {
		return
	}
	if v := recover(); v != nil {
		*err = panics.Error(nil, nil, call, v)
	}
}

// failed converts an error of package lookup to an error of this package.
func (s *Session) failed(err error) error {
	if errors.Is(err, ErrNotFound) {
		return err
	}
	return &ReadError{s.lookup().ID(), err}
}
