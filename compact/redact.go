package compact

// Redact returns a text as the manager's logs and events have it: what its
// configuration calls a secret is replaced.
func (m *CompactManager) Redact(text string) string { return m.redactor.Text(text).String() }

// SessionName returns what a session is called in files, events and logs: its
// id, or a hash in place of an id that holds a secret.
func (m *CompactManager) SessionName(id string) string { return m.nameOf(id).String() }
