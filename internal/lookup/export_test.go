package lookup

import (
	"context"
	"testing"

	"github.com/agentcompact/compact/storage/turnindex"
)

// SetMostAtOnce limits, in bytes, the data that a test reads at once.
func SetMostAtOnce(t *testing.T, bytes int64) {
	was := mostAtOnce
	mostAtOnce = bytes
	t.Cleanup(func() { mostAtOnce = was })
}

// Piece reads the line of a record.
func (s *Session) Piece(ctx context.Context, r turnindex.Record) ([]byte, error) {
	return s.piece(ctx, r)
}
