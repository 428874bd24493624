package compact

import (
	"context"
	"errors"
	"path"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/record"
)

// Archive stores a whole transcript, compacted or not, as
// transcript-final-NNN.jsonl. Call it at the end of a session, also if the session
// never compacted. Errors are [ErrArchiveFailed], [ErrClosed], [ErrSession],
// [ErrInternal] and the context's.
func (m *CompactManager) Archive(ctx context.Context, sessionID string, history []message.Message) (err error) {
	defer m.rescue("Archive", &err)
	if sessionID == "" {
		return ErrSession
	}
	if m.cfg.Observe && m.cfg.Archive == nil {
		return &ArchiveError{Op: "open", Session: sessionID, Err: errObserves}
	}
	err = m.archiveOnce(ctx, sessionID, history)
	if errors.Is(err, record.ErrScrubbed) || errors.Is(err, record.ErrErased) && m.cfg.Storage.Erased == "new" {
		// The session was erased or scrubbed since this process read it: retry
		// with the stored state.
		err = m.archiveOnce(ctx, sessionID, history)
	}
	return err
}

func (m *CompactManager) archiveOnce(ctx context.Context, sessionID string, history []message.Message) error {
	s, err := m.session(ctx, sessionID)
	if err != nil {
		return err
	}
	defer m.release(s)
	if _, err := m.keys.make(ctx, m.archive); err != nil {
		return &ArchiveError{Op: "key", Session: sessionID, Err: err}
	}
	if err := s.writeEvents(ctx); err != nil {
		m.forsake(s, err)
		return &ArchiveError{Op: "events", Session: sessionID, Err: err}
	}
	s.study(history)
	content, stored := layOut(s.pieces(history), s.knownToAll(ctx, m.cfg.Storage.Repeat))
	w, err := s.log.FinalOf(ctx, content)
	if err != nil {
		m.forsake(s, err)
		return &ArchiveError{Op: "transcript", Session: sessionID, Err: err}
	}
	stored.in(path.Base(w.Key.String()))
	s.keepFinal(&filed{file: path.Base(w.Key.String()), lines: stored.lines})
	if err := m.writeFinalIndex(ctx, s, history, stored, w); err != nil {
		m.forsake(s, err)
		return &ArchiveError{Op: "index", Session: sessionID, Err: err}
	}
	return nil
}
