package record

import (
	"context"

	"github.com/agentcompact/compact/storage"
)

// OpenToRead is [OpenSession] for callers that only read. While somebody scrubs the
// session, OpenToRead waits for that, up to the lease of a process that died (20 seconds
// by default). A scrub that was cut short stays as it is: the Session reads each file as
// the scrub leaves it, and writing returns [ErrUnplaced]. Where a file of the scrub is
// not as it should be, the Session is that of OpenSession.
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

// toRead returns a session without files that wait.
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
