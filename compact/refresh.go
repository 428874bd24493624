package compact

import (
	"context"
	"time"
)

// headEvery is how often a session asks the archive for steps of other
// processes while it does not compact, and headTimeout how long it waits.
const (
	headEvery   = 3 * time.Second
	headTimeout = 10 * time.Second
)

// refresh reads the steps that other processes have committed, at most once in
// a while, one reading of a session at a time. No call waits for it: what it
// finds is there for the next one.
func (m *CompactManager) refresh(ctx context.Context, s *session) {
	if !s.due(m.now()) {
		return
	}
	begun := m.side.start(ctx, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, headTimeout)
		defer cancel()
		defer s.asked()
		var err error // a commit tells
		defer m.rescue("the archive", &err)
		err = s.reload(ctx)
	})
	if !begun {
		s.asked()
	}
}

// due reports whether it is time to ask, and notes that somebody does.
func (s *session) due(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking || s.volatile || now.Sub(s.checked) < headEvery {
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

// missed asks for steps of this call's lane that it has not seen: it is about to
// compact. A failure of the archive is not the call's: the step's commit will
// tell.
func (c *call) missed(ctx context.Context) (bool, error) {
	if c.s.isVolatile() {
		return false, nil
	}
	if err := c.s.reload(ctx); err != nil {
		return false, ctx.Err()
	}
	return !c.lane.memo.current(c.s, c.q.owner()), nil
}
