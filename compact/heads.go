package compact

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// headsKey returns the signing key of heads, nil if none is configured.
func (c Config) headsKey() (ed25519.PrivateKey, error) {
	if len(c.HeadsKey) == 0 {
		return nil, nil
	}
	key, err := record.HeadsKey(string(c.HeadsKey))
	if err != nil {
		return nil, fmt.Errorf("compact: Config.HeadsKey: %w", err)
	}
	return key, nil
}

// Heads returns a new chain of heads in an archive, signed if the configuration has
// a key. It is for programs that hold and erase sessions; a manager keeps its own
// chain.
func (c Config) Heads(a storage.Archive) (*record.Heads, error) {
	key, err := c.headsKey()
	if err != nil {
		return nil, err
	}
	return record.NewHeads(a, key), nil
}

// beginHeads opens the heads of this manager, the tombstones and the access log.
func (m *CompactManager) beginHeads() (err error) {
	m.graves = record.NewGraves(m.archive)
	if m.cfg.Storage.AccessLog {
		m.access = record.NewAccessLog(m.archive)
	}
	m.heads, err = m.cfg.Heads(m.archive)
	return err
}

// recordRead records that an agent reads from the archive. A read that can't be recorded
// fails.
func (m *CompactManager) recordRead(ctx context.Context, s *session, op, what string) error {
	if m.access == nil {
		return nil
	}
	err := m.access.Record(ctx, s.log.Key().String(), op, redact.Lit("agent"), s.redactor.Text(what))
	if err != nil {
		return &ArchiveError{Op: "record the access", Session: s.id, Err: err}
	}
	return nil
}
