package compact

import "github.com/agentcompact/compact/message"

// Redact returns a text as the manager's logs and events have it: what its
// configuration calls a secret is replaced.
func (m *CompactManager) Redact(text string) string { return m.redactor.Text(text).String() }

// SessionName returns what a session is called in files, events and logs: its
// id, or a hash in place of an id that holds a secret.
func (m *CompactManager) SessionName(id string) string { return m.nameOf(id).String() }

// Ref returns what a part is had back by, once it was taken out: the {ref} of its
// placeholder, which [CompactManager.Recall] takes. It is keyed by the archive.
func (m *CompactManager) Ref(p message.Part) string { return m.keys.Current().Ref(p.Fingerprint()) }
