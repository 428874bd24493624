package compact

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/agentcompact/compact/storage/record"
)

// ownFolder returns the folder in which a process without an identity continues an
// encrypted session. It differs for each process.
func (m *CompactManager) ownFolder(folder string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own == "" {
		m.own = strings.ToLower(rand.Text()[:12])
	}
	return folder + ".by-" + m.own
}

// openUnread opens a new session, in a folder of its own, in place of a session that
// this process can't read. The existing session stays unchanged, and the history is
// compacted again.
func (m *CompactManager) openUnread(ctx context.Context, id, folder string, why error) (*session, error) {
	own := m.ownFolder(folder)
	s, err := openSession(ctx, m.archive, own, m.keys)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	m.log().Warn("compact: the archived files of the session can't be read here; the session continues in a new folder",
		"session", id, "folder", record.EscapeSession(own), "error", m.redactor.Text(why.Error()).String())
	return s, nil
}
