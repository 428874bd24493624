package compact

import "github.com/agentcompact/compact/message"

// Redact returns a text with its secrets replaced, as in the manager's logs and
// events.
func (m *CompactManager) Redact(text string) string { return m.redactor.Text(text).String() }

// SessionName returns the name of a session in files, events and logs: its id,
// or a hash of an id that holds a secret.
func (m *CompactManager) SessionName(id string) string { return m.nameOf(id).String() }

// Ref returns the reference of a part: the {ref} of its placeholder, which
// [CompactManager.Recall] accepts once the part is removed. It is made with the
// key of the archive.
func (m *CompactManager) Ref(p message.Part) string { return m.keys.Current().Ref(p.Fingerprint()) }
