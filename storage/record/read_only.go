package record

import (
	"context"

	"github.com/agentcompact/compact/storage"
)

// OpenToRead is [OpenSession] for callers that only read. While another process scrubs
// the session, OpenToRead waits until the scrub ends or, if its process died, until the
// lease of that process ends (20 seconds by default). An interrupted scrub is not continued: the Session reads each file in its
// scrubbed form, and writing returns [ErrUnplaced]. If a file of the scrub is not in the
// expected state, OpenToRead returns the Session of OpenSession.
func OpenToRead(ctx context.Context, a storage.Archive, id string) (*Session, error) {
	s, err := OpenSession(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return s.toRead(ctx)
}

// OpenDirToRead is [OpenDir] for callers that only read; see [OpenToRead].
func OpenDirToRead(ctx context.Context, a storage.Archive, dir string) (*Session, error) {
	s, err := OpenDir(ctx, a, dir)
	if err != nil {
		return nil, err
	}
	return s.toRead(ctx)
}

// toRead returns the session in its scrubbed form, if it has an interrupted scrub.
func (s *Session) toRead(ctx context.Context) (*Session, error) {
	if t, _ := s.manifest.known(); t.facts.scrub == nil {
		return s, nil
	}
	t, err := watchOver(s.a, s.dir).quiet(ctx)
	if err != nil {
		return nil, err
	}
	if h := halfScrubbed(ctx, s.a, s.dir, t.facts.scrub); h != nil {
		return openDir(ctx, h, s.dir)
	}
	return openDir(ctx, s.a, s.dir)
}
