package compact

import (
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
)

// SessionsConfig bounds the memory that a manager uses for sessions.
type SessionsConfig struct {
	// MaxBytes bounds the memory of idle sessions; default 256 MiB. The sessions that were
	// idle for longest are dropped from memory, and read from the archive when they are
	// used again. The most recently used session stays, with any size.
	MaxBytes int `mapstructure:"max_bytes" validate:"gt=0"`
}

// Approximate memory in bytes besides texts, rather too high than too low.
const (
	sessionWeight = 32 << 10
	messageWeight = 1 << 10
	recipeWeight  = 256
	seenWeight    = 64
)

// weigh returns the approximate memory of a history in bytes: its texts, and
// the data about each message.
func weigh(history []message.Message) (bytes int64) {
	for i := range history {
		bytes += messageWeight + int64(len(history[i].Raw()))
		for k := range history[i].Parts {
			p := &history[i].Parts[k]
			bytes += int64(len(p.Text) + len(p.Args))
			if p.Media != nil {
				bytes += int64(len(p.Media.URL))
			}
		}
	}
	return bytes
}

// weigh updates the memory of a lane's history. It visits only new messages.
func (l *lane) weigh(history []message.Message) {
	if len(history) < l.weighed {
		l.weighed, l.weight = 0, 0
	}
	l.weight += weigh(history[l.weighed:])
	l.weighed = len(history)
}

// weighStep returns the approximate memory of a step in bytes.
func weighStep(step *ledger.Step) int64 {
	n := len(step.Evicted)
	for _, r := range step.Recipes {
		n += 1 + len(r.Texts)
		n += len(r.Copies)
		if r.Cut != nil {
			n += len(r.Cut.Removed)
		}
	}
	return int64(n+1) * recipeWeight
}

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
			l.account.conv = nil // it holds the same messages
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
// sessions are removed.
func (m *CompactManager) retire(newest *session) {
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
		m.log().Warn("compact: too many sessions without an archive: the edits of one were removed from memory, and its next call makes new ones", "session", idle.id)
		m.forget(idle)
	}
	for m.bytes > int64(m.cfg.Sessions.MaxBytes) {
		idle := m.idle(newest, func(s *session) bool { return s.canSlim() })
		if idle == nil {
			return
		}
		idle.slim()
		m.reweigh(idle)
	}
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

// idle returns a session for which the function is returns true, except newest: the one
// that was idle for longest; nil if there is none.
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
