package compact

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// Recall returns text that was removed from a session's view, redacted, from
// the archive and never from memory. ref is the reference in a placeholder; the
// first 8 or more hex digits of the fingerprint of a message or a part; "s12"
// or "s12-s20", as a summary cites messages, of which it returns the first 50;
// "turn:17" for a whole turn; or "turn:17:observation" for one of its slots (request,
// reasoning, action, observation).
//
// After the headers of the indexes are read, a recall reads one page of the turn
// index and one range of the transcript. Text in no index is looked up in final
// transcripts without an index and in the journal. Errors are [ErrNotFound] if the
// archive holds no such text, an *[ArchiveError], [ErrSession], [ErrClosed],
// [ErrInternal] and the context's.
func (m *CompactManager) Recall(ctx context.Context, sessionID, ref string, opts ...recall.Option) (text string, err error) {
	defer m.rescue("Recall", &err)
	return m.recallOf(ctx, sessionID, ref, nil, opts)
}

// recallOf is Recall. If own is not nil, numbers of messages (s12) mean the
// messages that the view of own cites by them.
func (m *CompactManager) recallOf(ctx context.Context, sessionID, ref string, own *ledger.Owner, opts []recall.Option) (string, error) {
	q, err := lookup.ParseRef(ref)
	if err != nil {
		return "", err
	}
	q.Own = own
	switch {
	case sessionID == "":
		return "", ErrSession
	case isUnnamed(sessionID):
		return "", fmt.Errorf("%w: the session has no name", ErrNotFound)
	}
	return m.recall(ctx, sessionID, q, opts)
}

func (m *CompactManager) recall(ctx context.Context, sessionID string, q lookup.Ref, opts []recall.Option) (string, error) {
	s, err := m.session(ctx, sessionID)
	if err != nil {
		return "", err
	}
	defer m.release(s)
	if err := m.recordRead(ctx, s, "recall", q.Text); err != nil {
		return "", err
	}
	began := m.now()
	var text string
	err = m.reading(ctx, s, func(s *session) (err error) {
		text, err = s.recall(ctx, q, opts)
		return err
	})
	if err == nil {
		s.wasRecalled(q.Text)
	}
	m.sayRecall(ctx, s, trace.Recalled{Ref: q.Text, Found: err == nil, Chars: utf8.RuneCountInString(text)}, began, err)
	if why := s.late.missing(); why != nil && errors.Is(err, ErrNotFound) {
		return "", &ArchiveError{Op: "open", Session: s.id, Err: why} // the archive could not be opened, so the text may exist
	}
	return text, err
}

// reading calls the function read for s. If a file or the requested text is missing, or a file was
// changed, the session may have been scrubbed or erased since it was opened. Then reading opens it
// again, which finishes an interrupted scrub or continues after the erase, and calls the function
// again.
func (m *CompactManager) reading(ctx context.Context, s *session, read func(*session) error) error {
	err := read(s)
	if !errors.Is(err, storage.ErrChanged) && !errors.Is(err, storage.ErrNotExist) && !errors.Is(err, ErrNotFound) {
		return err
	}
	outdated := s.log.Fresh(ctx)
	if !errors.Is(outdated, record.ErrScrubbed) && !errors.Is(outdated, record.ErrErased) {
		return err
	}
	m.forsake(s, outdated)
	again, err := m.session(ctx, s.id)
	if err != nil {
		return err
	}
	defer m.release(again)
	return read(again)
}

// Outcomes of a search after which the session may have been scrubbed or erased.
var (
	errLeftOut = fmt.Errorf("some messages were not searched: %w", storage.ErrChanged)
	errNoLine  = fmt.Errorf("no line matches: %w", ErrNotFound)
)

// Search returns the lines that match a pattern in the text that compactions removed
// from a session's view, redacted, from the archive and never from memory. most is
// the maximum number of matches; 0 is 200. A search covers the newest 64 MiB of a
// session and takes at most ten seconds.
//
// A session without a name cannot be searched, as it may hold the conversations of
// others. Its error is [ErrNotFound]; a search without a match is no error. Other
// errors are [ErrSession], [ErrClosed], [ErrInternal], an *[ArchiveError] and the
// context's, which is checked every few KB.
func (m *CompactManager) Search(ctx context.Context, sessionID string, pattern *regexp.Regexp, most int, opts ...recall.SearchOption) (found recall.Found, err error) {
	defer m.rescue("Search", &err)
	switch {
	case sessionID == "":
		return recall.Found{}, ErrSession
	case isUnnamed(sessionID):
		return recall.Found{}, fmt.Errorf("%w: the session has no name", ErrNotFound)
	}
	s, err := m.session(ctx, sessionID)
	if err != nil {
		return recall.Found{}, err
	}
	defer m.release(s)
	if err := m.recordRead(ctx, s, "search", pattern.String()); err != nil {
		return recall.Found{}, err
	}
	began := m.now()
	err = m.reading(ctx, s, func(s *session) (err error) {
		found, err = s.search(ctx, pattern, most, opts)
		switch {
		case err == nil && found.Changed > 0:
			return errLeftOut
		case err == nil && found.Lines == 0:
			return errNoLine
		}
		return err
	})
	if errors.Is(err, errLeftOut) || errors.Is(err, errNoLine) {
		err = nil
	}
	chars := 0
	for i := range found.Matches {
		chars += utf8.RuneCountInString(found.Matches[i].Text)
	}
	m.sayRecall(ctx, s, trace.Recalled{Pattern: pattern.String(), Found: found.Lines > 0, Matches: found.Lines, Chars: chars}, began, err)
	return found, err
}

// recall returns the text of a reference.
func (s *session) recall(ctx context.Context, q lookup.Ref, opts []recall.Option) (string, error) {
	text, err := s.reads.Text(ctx, q)
	switch {
	case errors.Is(err, ErrNotFound):
		return "", err
	case err != nil:
		return "", &ArchiveError{Op: "read", Session: s.id, Err: err}
	case len(opts) == 0:
		return text, nil
	}
	lines := strings.Split(text, "\n")
	for _, o := range opts {
		lines = o(lines)
	}
	return strings.Join(lines, "\n"), nil
}

// search returns the lines that match a pattern.
func (s *session) search(ctx context.Context, pattern *regexp.Regexp, most int, opts []recall.SearchOption) (recall.Found, error) {
	found, err := (*recall.Session)(s.reads).Search(ctx, pattern, most, opts...)
	return found, s.readError(err)
}

// readError returns an error of package recall as one of this package.
func (s *session) readError(err error) error {
	if failed := (*recall.ReadError)(nil); errors.As(err, &failed) {
		return &ArchiveError{Op: "read", Session: s.id, Err: failed.Err}
	}
	return err
}

// sayRecall emits the event of a recall, in its own trace unless the caller has
// one.
func (m *CompactManager) sayRecall(ctx context.Context, s *session, p trace.Recalled, began time.Time, err error) {
	name, now := m.nameOf(s.id), m.now()
	p.SessionID = name.String()
	if err != nil && !errors.Is(err, ErrNotFound) {
		p.ErrorType = kindOf(err)
	}
	e := trace.New(p, s.redactor.JSON(trace.Encode(p)), began, now)
	e.Session = name
	if id, parent, ok := trace.FromContext(m.pipe.Join(ctx)); ok {
		e.TraceID, e.ParentID = id, parent
		e.Trace = m.traceInfo("", name, e.Agent, "", began, now)
	} else {
		e.TraceID = trace.NewTraceID()
		e.Trace = m.traceInfo(s.redactor.Text(p.Line()).String(), name, e.Agent, "", began, now)
	}
	m.pipe.Emit(e)
	if m.isThere(ctx, s) {
		s.audit.add(s.redactor.JSON(e.AppendJSON(nil)))
	}
}

// isThere reports whether a session has something in the archive, or waiting for it. A read
// of any other session must not make a folder for it. If the archive can't say, it is there.
func (m *CompactManager) isThere(ctx context.Context, s *session) bool {
	s.mu.Lock()
	called := s.calls > 0
	s.mu.Unlock()
	if called || s.log.ManifestHead() != "" || s.audit.hasLines() {
		return true
	}
	there, err := hasFolder(context.WithoutCancel(ctx), m.archive, s.log.Key())
	return there || err != nil
}

// RecallShown is [CompactManager.Recall] for a reference that the view of a result
// shows, in a placeholder or in its summary, and for numbers of messages (s12) of
// the history that the call was given, and for nothing else. So it is safe for
// sessions without a name: a caller that holds the view has sent the text itself,
// even if another conversation has the same beginning.
func (m *CompactManager) RecallShown(ctx context.Context, res *Result, ref string, opts ...recall.Option) (text string, err error) {
	defer m.rescue("RecallShown", &err)
	q, err := lookup.ParseRef(ref)
	switch {
	case err == nil && q.First > 0:
		q.Of = make(map[message.Fingerprint]bool, len(res.cited.history))
		for i := range res.cited.history {
			q.Of[res.cited.history[i].Fingerprint()] = true
		}
	case err != nil || !m.showsReference(res.Messages, ref):
		return "", fmt.Errorf("%w: no placeholder of the view names %q", ErrNotFound, shorten(ref))
	}
	q.Own = &res.cited.owner
	return m.recall(ctx, res.Session, q, opts)
}

// showsReference reports whether a placeholder or summary of the manager has a reference.
func (m *CompactManager) showsReference(view []message.Message, ref string) bool {
	const digits = 12
	if len(ref) != digits {
		return false
	}
	for i := range view {
		for p := range view[i].Parts {
			part := &view[i].Parts[p]
			if mark, ok := forms(&m.cfg).ParseMark(part.Text); ok && (part.Kind == message.KindToolResult || mark.Form == formname.Media) && mark.Ref == ref {
				return true
			}
			if policy.IsSummary(view[i]) && strings.Contains(part.Text, ref) {
				return true
			}
		}
	}
	return false
}
