package storage

import (
	"context"
	"iter"
	"time"
)

// Folder is what a [Glancer] tells of a folder in the root of an archive.
type Folder struct {
	Name string
	// Stamp is another one after a key came into being in the folder, or went, or
	// after one of the logs that were asked for grew. "" is no stamp: it is too
	// early to tell the next change from the last one.
	Stamp string
}

// Glancer is an Archive that can tell cheaply which folders have changed. Who keeps
// something that is made of sessions lists every key of any other.
type Glancer interface {
	// Glance yields the folders in the root, in no order. logs returns the names
	// of the logs in a folder whose growth its stamp must show; it is called by
	// several goroutines at once. An error is yielded last.
	Glance(ctx context.Context, logs func(folder string) []string) iter.Seq2[Folder, error]
}

// TextIndex is something outside of a session that has text of it, such as an index
// to search in.
type TextIndex interface {
	// Forget takes all text of sessions out, by the names of their folders. What
	// it does not have it has forgotten.
	Forget(ctx context.Context, dirs ...string) error
}

// IndexHolder is an Archive that keeps an index of its text beside the sessions.
type IndexHolder interface {
	// DropIndex removes it. It can be made anew of the sessions. None is no error.
	DropIndex(ctx context.Context) error
}

// KeepIndex makes the session tell an index that it is erased. Without one an
// [IndexHolder] loses the whole index then: nobody else knows how to take one
// session out of it.
func (s *Session) KeepIndex(x TextIndex) { s.index = x }

// unindex takes the text of the session out of what is beside it.
func (s *Session) unindex(ctx context.Context) error {
	if s.index != nil {
		return Wrap("forget", s.dir, s.index.Forget(ctx, s.dir.s))
	}
	if h, ok := s.a.(IndexHolder); ok {
		return h.DropIndex(ctx)
	}
	return nil
}

// StoredAt returns when each file of the session was announced, by name, as the
// lines of the manifest say that were not changed.
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
