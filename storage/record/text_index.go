package record

import (
	"context"
	"time"

	"github.com/agentcompact/compact/storage"
)

// A TextIndex holds text of sessions outside of the archive's files, such as a search
// index.
type TextIndex interface {
	// Forget removes all text of sessions, given by their folders. An unknown session is
	// not an error.
	Forget(ctx context.Context, dirs ...string) error
}

// KeepIndex sets the index from which Erase removes the session. Without it, Erase
// drops the whole index of an [storage.IndexHolder], because only the index itself can
// remove a single session.
func (s *Session) KeepIndex(x TextIndex) { s.index = x }

// unindex removes the text of the session from the index. If no index was set, it drops
// the index of a [storage.IndexHolder].
func (s *Session) unindex(ctx context.Context) error {
	if s.index != nil {
		return storage.Wrap("forget", s.dir, s.index.Forget(ctx, s.dir.String()))
	}
	if h, ok := s.a.(storage.IndexHolder); ok {
		return h.DropIndex(ctx)
	}
	return nil
}

// Announced returns the names of the session's files in the order in which they were first
// announced. Changed lines of the manifest are ignored.
func (s *Session) Announced(ctx context.Context) (names []string, err error) {
	known := map[string]bool{}
	for l, err := range checkedLines(ctx, s.manifest, 0) {
		if err != nil {
			return nil, err
		}
		r, ok := parseRecord(l.Body)
		if !ok || l.Changed || r.Op != opPut && r.Op != opCommit {
			continue
		}
		for _, f := range append(r.With, fileHash{Name: r.Name}) {
			if !known[f.Name] {
				names, known[f.Name] = append(names, f.Name), true
			}
		}
	}
	return names, nil
}

// StoredAt returns the time at which each file of the session was announced, by
// name. Changed lines of the manifest are ignored.
func (s *Session) StoredAt(ctx context.Context) (map[string]time.Time, error) {
	at := map[string]time.Time{}
	for l, err := range checkedLines(ctx, s.manifest, 0) {
		if err != nil {
			return nil, err
		}
		r, ok := parseRecord(l.Body)
		if _, known := at[r.Name]; ok && !l.Changed && !known && (r.Op == opPut || r.Op == opCommit) {
			at[r.Name] = r.At
		}
	}
	return at, nil
}
