package spool

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// turn holds the retries of a session that could not be sent.
type turn struct {
	failures int       // consecutive failures
	since    time.Time // of the first of them
	tried    time.Time
	next     time.Time
	err      error
}

// failed schedules a retry, with increasing delays.
func (s *Spool) failed(session string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.turns[session]
	most := min(firstWait<<min(t.failures, 10), longestWait)
	now := time.Now()
	if t.failures == 0 {
		t.since = now
	}
	s.turns[session] = turn{failures: t.failures + 1, since: t.since, tried: now, next: now.Add(most/2 + rand.N(most/2)), err: err}
}

// busy delays the next attempt for a session that another process is sending. Whether it
// succeeds is not known yet.
func (s *Spool) busy(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.turns[session]; ok {
		t.next = time.Now().Add(firstWait)
		s.turns[session] = t
	}
}

func (s *Spool) sent(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.turns, session)
}

// due returns the sessions without a pending delay.
func (s *Spool) due(sessions []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return slices.DeleteFunc(sessions, func(session string) bool { return s.turns[session].next.After(now) })
}

// nextTurn returns the time until the first retry, but no more than most.
func (s *Spool) nextTurn(most time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	for session := range s.dirty {
		if t := s.turns[session]; t.failures > 0 {
			most = min(most, time.Until(t.next))
		}
	}
	return max(most, 0)
}

// inTurn sorts sessions: sessions without failures first, then sessions that have
// waited longest.
func (s *Spool) inTurn(sessions []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortFunc(sessions, func(a, b string) int {
		x, y := s.turns[a], s.turns[b]
		return cmp.Or(x.tried.Compare(y.tried), cmp.Compare(a, b))
	})
}

// passState is the state of one pass over the sessions.
type passState struct {
	s   *Spool
	cut cut

	mu     sync.Mutex
	failed int    // failures since the last success
	last   string // last failed session
	sent   bool   // any session was sent
	away   error  // error if the remote archive does not answer at all
	asking bool   // a check of the names is running
}

// note records the outcome of a session, and checks after some failures whether
// the remote archive answers at all.
func (p *passState) note(ctx context.Context, session string, err error) {
	if ctx.Err() != nil {
		return
	}
	if p.noted(session, err) {
		away := p.s.away(ctx, session) // without the lock, because it can take long
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asking, p.away = false, away
	}
}

// noted records an outcome, and reports whether to check the remote archive.
func (p *passState) noted(session string, err error) (ask bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if errors.Is(err, errBusy) {
		p.s.busy(session)
		return false
	}
	if err == nil || errors.Is(err, ErrConflict) { // Waiting reports conflicts
		p.s.sent(session)
		p.failed, p.sent = 0, true
		return false
	}
	p.s.failed(session, err)
	p.last = session
	p.failed++
	ask = p.failed%sessionsAtOnce == 0 && p.away == nil && !p.asking
	p.asking = p.asking || ask
	return ask
}

func (p *passState) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.away != nil
}

// end returns the error of the remote archive, nil if it answers.
func (p *passState) end(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failed > 0 && p.failed < sessionsAtOnce && !p.sent && ctx.Err() == nil {
		p.away = p.s.away(ctx, p.last)
	} else if p.sent && p.away == nil {
		p.s.asked(nil)
	}
	return p.away
}

// failures returns the errors of a few unsent sessions.
func (s *Spool) failures() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, t := range s.turns {
		if errs = append(errs, t.err); len(errs) == sessionsAtOnce {
			break
		}
	}
	return errors.Join(errs...)
}

// away returns an error if the remote archive does not answer at all.
func (s *Spool) away(ctx context.Context, session string) error {
	probe, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var err error
	for _, err = range s.remote.List(probe, mustKey(session)) {
		break
	}
	if ctx.Err() == nil {
		s.asked(err)
	}
	return err
}
