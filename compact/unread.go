package compact

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"github.com/agentcompact/compact/storage"
)

// ownFolder is the folder in which a session goes on that is encrypted, in a process
// that has nothing to read it with: another one in each process.
func (m *CompactManager) ownFolder(folder string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own == "" {
		m.own = strings.ToLower(rand.Text()[:12])
	}
	return folder + ".by-" + m.own
}

// openUnread opens a session of which there is more than this process can read. What
// is there stays; what is compacted now is compacted anew, in a folder of its own.
func (m *CompactManager) openUnread(ctx context.Context, id, folder string, why error) (*session, error) {
	own := m.ownFolder(folder)
	s, err := openSession(ctx, m.archive, own, m.keys)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	m.log().Warn("compact: what the archive has of the session can't be read here; it goes on in a folder of its own",
		"session", id, "folder", storage.EscapeSession(own), "error", m.redactor.Text(why.Error()).String())
	return s, nil
}
