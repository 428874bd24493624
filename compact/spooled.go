package compact

import (
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// spooled returns the data that the archive has not sent to its bucket yet. It
// returns false for an archive without a spool.
func (m *CompactManager) spooled() (storage.Backlog, bool) {
	b, ok := storage.BufferOf(m.archive)
	if !ok {
		return storage.Backlog{}, false
	}
	return b.Backlog(), true
}

// watchBacklog hands the backlog to the exporters that report it.
func (m *CompactManager) watchBacklog(exporters []trace.Exporter) {
	for _, e := range exporters {
		if w, ok := e.(trace.BacklogWatcher); ok {
			w.WatchBacklog(func() (trace.Backlog, bool) {
				b, ok := m.spooled()
				return trace.Backlog{Dir: b.Dir, Operations: b.Operations, Sessions: b.Sessions, Conflicts: b.Conflicts, Failing: b.Failing}, ok
			})
		}
	}
}

// hear logs when an archive can't send the written data, and when it can send
// again.
func (m *CompactManager) hear(a storage.Archive) {
	buffer, ok := storage.BufferOf(a)
	if !ok {
		return
	}
	where := ""
	if l, ok := a.(storage.Locator); ok {
		where = l.Location(storage.Key{})
	}
	buffer.Notify(func(b storage.Backlog) {
		if b.Failing.IsZero() {
			m.log().Info("compact: the archive takes data again", "archive", where, "spool", b.Dir, "operations", b.Operations)
			return
		}
		reason := ""
		if b.Err != nil {
			reason = m.redactor.Text(b.Err.Error()).String()
		}
		m.log().Warn("compact: the archive does not take data; it waits on the disk, and is sent when the archive is back",
			"archive", where, "spool", b.Dir, "operations", b.Operations, "sessions", b.Sessions, "since", b.Failing, "error", reason)
	})
}
