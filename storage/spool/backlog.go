package spool

import (
	"errors"
	"os"
	"time"

	"github.com/agentcompact/compact/storage"
)

var _ storage.Buffered = (*Spool)(nil)

// Backlog implements [storage.Buffered].
func (s *Spool) Backlog() storage.Backlog {
	w, err := s.Waiting()
	b := storage.Backlog{Dir: s.dir, Operations: w.Operations, Sessions: w.Sessions, Conflicts: len(w.Conflicts)}
	s.mu.Lock()
	defer s.mu.Unlock()
	b.Failing, b.Err = s.failing()
	if err != nil {
		b.Err = err
	}
	return b
}

// failing returns, over all sessions, the time of the oldest failure since the session's
// last success, and the error of the newest attempt. The caller holds the mutex.
func (s *Spool) failing() (since time.Time, err error) {
	var newest time.Time
	for _, t := range s.turns {
		if since.IsZero() || t.since.Before(since) {
			since = t.since
		}
		if err == nil || t.tried.After(newest) {
			newest, err = t.tried, t.err
		}
	}
	return since, err
}

// Notify implements [storage.Buffered].
func (s *Spool) Notify(f func(storage.Backlog)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notify = f
}

// A short failure is not reported, and a long one not at every attempt.
const reportAfter, reportEvery = time.Minute, time.Hour

// alarm decides which failures are reported.
type alarm struct {
	told time.Time // of the last report of a failure; zero: none since the last success
}

// due reports whether to report the state now: failing is the time of the first failure,
// zero if nothing fails.
func (a *alarm) due(now, failing time.Time) bool {
	switch {
	case failing.IsZero():
		told := !a.told.IsZero()
		a.told = time.Time{}
		return told
	case now.Sub(failing) < reportAfter || !a.told.IsZero() && now.Sub(a.told) < reportEvery:
		return false
	}
	a.told = now
	return true
}

// report calls the function of Notify if there is something to report.
func (s *Spool) report(a *alarm) {
	s.mu.Lock()
	since, _ := s.failing()
	f := s.notify
	s.mu.Unlock()
	if f != nil && a.due(time.Now(), since) {
		f(s.Backlog())
	}
}

// sentAll reports whether everything in the queue of a session was sent, from the sizes
// alone.
func (s *Spool) sentAll(session string) bool {
	info, err := os.Stat(s.state(session, queueFile))
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		return false
	}
	sent, err := os.ReadFile(s.state(session, sentFile))
	return err == nil && parseSent(sent) >= info.Size()
}
