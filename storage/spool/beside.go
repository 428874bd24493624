package spool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// What stands beside the sessions, such as their heads, is sent after them: heads
// of what the remote archive does not have yet would say there that it was taken
// away.

func isBeside(session string) bool { return strings.HasPrefix(session, "_") }

// apart divides what stands beside the sessions from them.
func apart(all []string) (sessions, beside []string) {
	for _, session := range all {
		if isBeside(session) {
			beside = append(beside, session)
		} else {
			sessions = append(sessions, session)
		}
	}
	return sessions, beside
}

// cut is how long the queues were at a moment, by session: first those beside, then
// those of the sessions, so that what the former speak of is in the latter.
type cut map[string]int64

func (s *Spool) cut(beside []string) (cut, error) {
	if len(beside) == 0 {
		return nil, nil
	}
	all, err := s.sessions()
	if err != nil {
		return nil, err
	}
	sessions, _ := apart(all)
	c := cut{}
	for _, session := range append(beside, sessions...) {
		info, err := os.Stat(s.state(session, queueFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		c[session] = info.Size()
	}
	return c, nil
}

// of returns the operations that were in the queue then.
func (c cut) of(session string, ops []queued) (then []queued) {
	for _, o := range ops {
		if o.next <= c[session] {
			then = append(then, o)
		}
	}
	return then
}

// arrived reports whether all that the sessions had then was sent. A session in
// conflict is not waited for: nothing of it is ever sent.
func (c cut) arrived(s *Spool) bool {
	for session := range c {
		if isBeside(session) || s.conflict(session) != nil {
			continue
		}
		_, ops, err := s.queue(session)
		if err != nil || len(c.of(session, ops)) > 0 {
			return false
		}
	}
	return true
}
