// Package recall reads an archive without a manager and without its keys: text that
// compactions removed from the views of a session, the lines of this text that match a
// pattern, and all stored messages. It only reads. The text is redacted, and is checked
// against the session's ledgers and manifest.
//
//	text, err := recall.Text(ctx, archive, "session-1", "3f9a2c1b77de", recall.Head(20))
//
// The methods Recall and Search of a manager of package compact do the same for the
// manager's own sessions.
package recall
