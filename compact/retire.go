package compact

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/storage/record"
)

// weight returns the approximate memory of a session in bytes.
func (s *session) weight() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(sessionWeight) + s.stepsWeight + s.reads.Weight() + s.final.weight() + seenWeight*int64(len(s.seen)+len(s.redactor.learned))
	for _, l := range s.lanes {
		n += l.weight + l.aside
	}
	return n
}

// slim removes the caches of idle lanes and of the archive from memory.
func (s *session) slim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if l.users == 0 {
			l.memo, l.weight, l.weighed = memo{}, 0, 0
			l.account.conv = nil // conv holds the same messages
			l.shelf, l.reading, l.aside = nil, nil, l.flights.Weight()
			l.filed.Store(nil)
		}
	}
	s.final = nil
	s.reads.Slim()
}

// retire removes the sessions idle for longest while there are too many or they
// are too large; the caller holds the manager's mutex. Sessions with unstored
// steps only lose their caches, unless there are too many of them; shadow
// sessions are removed. It returns the ids of the removed sessions whose steps are
// unstored.
func (m *CompactManager) retire(newest *session) (lost []string) {
	for len(m.sessions) > m.keep || m.bytes > int64(m.cfg.Sessions.MaxBytes) {
		idle := m.idle(newest, func(s *session) bool { return !s.isVolatile() || s.shadow })
		if idle == nil {
			break
		}
		m.forget(idle)
	}
	for len(m.sessions) > m.keep {
		idle := m.idle(newest, func(*session) bool { return true })
		if idle == nil {
			break
		}
		lost = append(lost, idle.id)
		m.forget(idle)
	}
	for m.bytes > int64(m.cfg.Sessions.MaxBytes) {
		idle := m.idle(newest, func(s *session) bool { return s.canSlim() })
		if idle == nil {
			break
		}
		idle.slim()
		m.reweigh(idle)
	}
	return lost
}

// forget removes an idle session from memory; the caller holds the manager's
// mutex.
func (m *CompactManager) forget(idle *session) {
	m.throwAll(idle)
	m.endTrace(idle)
	delete(m.sessions, idle.id)
	m.bytes -= idle.bytes
	m.backlog.orphan(idle.audit)
}

// idle returns the session that was idle for longest, among those for which the function
// is returns true. It never returns newest. It returns nil if there is no such session.
func (m *CompactManager) idle(newest *session, is func(*session) bool) (idle *session) {
	for _, s := range m.sessions {
		if s.users == 0 && s != newest && (idle == nil || s.used.Before(idle.used)) && is(s) {
			idle = s
		}
	}
	return idle
}

// reweigh updates the memory of a session; the caller holds the manager's
// mutex.
func (m *CompactManager) reweigh(s *session) {
	now := s.weight()
	m.bytes += now - s.bytes
	s.bytes = now
}

// canSlim reports whether a session has caches that slim removes.
func (s *session) canSlim() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if l.weight > 0 || l.shelf != nil || l.filed.Load() != nil {
			return true
		}
	}
	return s.reads.Weight() > 0
}

// fly runs the function write in the background. The function reads data for a summary,
// or writes the summary. Until it is done, its lane and session stay in memory. After
// Close, fly returns false and runs nothing.
func (m *CompactManager) fly(ctx context.Context, s *session, l *lane, write func(context.Context)) bool {
	m.mu.Lock()
	s.users++
	m.mu.Unlock()
	m.uses.add()
	s.mu.Lock()
	l.users++
	s.mu.Unlock()
	landed := func() {
		m.leave(s, l, nil)
		m.release(s)
	}
	if m.side.start(ctx, func(ctx context.Context) {
		defer landed()
		write(ctx)
	}) {
		return true
	}
	landed()
	return false
}

// keepSessions limits the number of idle sessions in memory. Other sessions are read
// from the archive again when they are used.
const keepSessions = 4096

// release ends the use of a session. If sessions in memory are too many or too
// large, those idle for longest are written and removed.
func (m *CompactManager) release(s *session) {
	defer m.uses.done()
	for _, id := range m.unuse(s) { // logged without the lock, because a handler of logs can block
		m.log().Warn("compact: too many sessions without an archive: the edits of one were removed from memory, and its next call makes new ones", "session", id)
	}
}

// unuse implements release. It returns the ids of removed sessions without an archive.
func (m *CompactManager) unuse(s *session) (lost []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.users--
	s.used = m.now()
	if m.sessions[s.id] == s {
		m.reweigh(s)
	}
	return m.retire(s)
}

// forsake removes a session from memory if err says that it was erased or scrubbed, so
// that the next call reads it again. Lines that wait for the log of a scrubbed session
// continue to wait.
func (m *CompactManager) forsake(s *session, err error) {
	scrubbed := errors.Is(err, record.ErrScrubbed)
	if s == nil || s.erased || !scrubbed && !errors.Is(err, record.ErrErased) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.id] != s {
		return
	}
	if scrubbed {
		m.forget(s)
		return
	}
	m.throwAll(s)
	m.endTrace(s)
	delete(m.sessions, s.id)
	m.bytes -= s.bytes
}

// forsakeWriter is [CompactManager.forsake] for the session that writes to an audit log.
// The next call of its agent finds the session that continues it.
func (m *CompactManager) forsakeWriter(a *auditLog, err error) { m.forsake(m.writing(a), err) }
