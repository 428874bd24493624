package compact

import (
	"crypto/sha256"

	"github.com/agentcompact/compact/redact"
)

// nameOf is what a session, an agent or a branch is called in files, events and
// the ledger: its id. An id that holds a secret is replaced by a hash of it,
// which tells it from others and is the same in every process; a folder's name
// can't be redacted in another way. A name is its own name.
func (m *CompactManager) nameOf(id string) redact.Text { return SessionName(m.redactor, id) }

// SessionName returns what an archive calls a session, an agent or a branch with
// this id, by a redactor of the archive's configuration: the id, or, where that
// holds a secret, a hash of it. It is for those who look for an id in an archive.
func SessionName(r *redact.Redactor, id string) redact.Text {
	name := r.Text(id)
	if name.String() == id {
		return name
	}
	sum := sha256.Sum256([]byte("compact name " + id))
	return redact.Join(redact.Lit("redacted-"), redact.Digest([16]byte(sum[:16])))
}
