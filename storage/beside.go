package storage

import (
	"context"
	"iter"
	"time"
)

// A Folder is the state of a folder in the root of an archive, from a
// [Glancer].
type Folder struct {
	Name string
	// Stamp changes when a key is created in the folder or removed from it, or
	// one of the requested logs grows. "" is no stamp: the last change is too
	// recent to be told from the next one.
	Stamp string
}

// A Glancer is an Archive that reports cheaply which folders have changed. For any
// other archive, a user such as the search index lists every key.
type Glancer interface {
	// Glance yields the folders in the root, in no order. logs returns the names
	// of the logs in a folder whose growth its stamp must show; it is called by
	// several goroutines at once. An error is yielded last.
	Glance(ctx context.Context, logs func(folder string) []string) iter.Seq2[Folder, error]
}

// A TextIndex holds text of sessions outside of them, such as a search index.
type TextIndex interface {
	// Forget removes all text of sessions, given by their folders. An unknown
	// session is no error.
	Forget(ctx context.Context, dirs ...string) error
}

// IndexHolder is an Archive that keeps an index of its text beside the sessions.
type IndexHolder interface {
	// DropIndex removes the index, which can be rebuilt from the sessions. A
	// missing index is no error.
	DropIndex(ctx context.Context) error
}

// KeepIndex sets the index that Erase removes the session from. Without it,
// Erase drops the whole index of an [IndexHolder], as only the index can remove
// one session.
func (s *Session) KeepIndex(x TextIndex) { s.index = x }

// unindex removes the text of the session from the index. If the session has no
// index, it drops that of an [IndexHolder].
func (s *Session) unindex(ctx context.Context) error {
	if s.index != nil {
		return Wrap("forget", s.dir, s.index.Forget(ctx, s.dir.s))
	}
	if h, ok := s.a.(IndexHolder); ok {
		return h.DropIndex(ctx)
	}
	return nil
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
