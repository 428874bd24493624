package compact

import (
	"context"
	"time"
)

// headEvery is the interval at which a session reads steps of other processes
// while it does not compact, and headTimeout limits one such read.
const (
	headEvery   = 3 * time.Second
	headTimeout = 10 * time.Second
)

// refresh reads the steps of other processes in the background, at most once in
// headEvery, and with at most one read of a session at a time. The next call uses
// the new steps.
func (m *CompactManager) refresh(ctx context.Context, s *session) {
	if !s.startIfDue(m.now()) {
		return
	}
	begun := m.side.start(ctx, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, headTimeout)
		defer cancel()
		defer s.asked()
		var err error // not reported here: the next commit meets the same error
		defer m.rescue("the archive", &err)
		err = s.reload(ctx)
	})
	if !begun {
		s.asked()
	}
}

// startIfDue reports whether a read is due, and marks it as running.
func (s *session) startIfDue(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking || s.volatile || isWithin(now, s.checked, headEvery) {
		return false
	}
	s.asking, s.checked = true, now
	return true
}

func (s *session) asked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = false
}
