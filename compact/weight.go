package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/turnindex"
)

// SessionsConfig bounds the memory that a manager uses for sessions.
type SessionsConfig struct {
	// MaxBytes bounds the memory of idle sessions; default 256 MiB. The sessions
	// that were idle for longest are dropped from memory, and read from the
	// archive when they are used again. The most recently used session stays
	// whatever its size.
	MaxBytes int `mapstructure:"max_bytes" validate:"gt=0"`
}

// What things cost in memory besides the bytes of texts: rough, and rather too
// much.
const (
	sessionWeight = 32 << 10
	messageWeight = 1 << 10
	recipeWeight  = 256
	seenWeight    = 64
)

// weigh is about what the memory of a history costs: its texts, and what is
// known of each message.
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

// weigh notes what a lane remembers of a history; of one that has grown only
// what is new is looked at.
func (l *lane) weigh(history []message.Message) {
	if len(history) < l.weighed {
		l.weighed, l.weight = 0, 0
	}
	l.weight += weigh(history[l.weighed:])
	l.weighed = len(history)
}

// weighStep is about what the memory of a step costs.
func weighStep(step *ledgerStep) int64 {
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

// weight is about what a session costs in memory.
func (s *session) weight() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(sessionWeight) + s.stepsWeight + s.rebuiltWeight + s.final.weight() + seenWeight*int64(len(s.seen)+len(s.redactor.learned))
	for _, l := range s.lanes {
		n += l.weight + l.aside
	}
	return n
}

// slim forgets what is there to spare work alone.
func (s *session) slim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if l.users == 0 {
			l.memo, l.weight, l.weighed = memo{}, 0, 0
			l.account.conv = nil // it holds as much
			l.shelf, l.reading, l.aside = nil, nil, l.flights.Weight()
			l.filed.Store(nil)
		}
	}
	s.final = nil
	s.rebuilt, s.rebuiltWeight = map[int]*turnindex.Table{}, 0
}

// retire forgets sessions that were idle for longest, while they are too many or
// too large; the caller holds the manager's mutex. Of sessions whose steps no
// archive has only what spares work is forgotten, unless they alone are too many;
// those that are only observed are.
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
		m.log().Warn("compact: too many sessions that no archive has: one is forgotten, and will be compacted anew", "session", idle.id)
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

// forget forgets a session that is idle; the caller holds the manager's mutex.
func (m *CompactManager) forget(idle *session) {
	m.throwAll(idle)
	m.endTrace(idle)
	delete(m.sessions, idle.id)
	m.bytes -= idle.bytes
	m.backlog.orphan(idle.audit)
}

// idle returns the session that was idle for longest among some.
func (m *CompactManager) idle(newest *session, is func(*session) bool) (idle *session) {
	for _, s := range m.sessions {
		if s.users == 0 && s != newest && (idle == nil || s.used.Before(idle.used)) && is(s) {
			idle = s
		}
	}
	return idle
}

// reweigh notes what a session costs now; the caller holds the manager's mutex.
func (m *CompactManager) reweigh(s *session) {
	now := s.weight()
	m.bytes += now - s.bytes
	s.bytes = now
}

// canSlim reports whether something is there to spare work alone.
func (s *session) canSlim() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if l.weight > 0 || l.shelf != nil || l.filed.Load() != nil {
			return true
		}
	}
	return s.rebuiltWeight > 0
}
