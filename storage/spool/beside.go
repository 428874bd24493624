package spool

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Files beside the sessions, such as their heads, are sent after the sessions. Heads that
// arrive earlier would report data as missing, because the remote archive does not have
// it yet.

func isBeside(session string) bool { return strings.HasPrefix(session, "_") }

// apart separates sessions from the folders beside them.
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

// cut holds the lengths of the queues at a moment, by session. The queues of folders
// beside the sessions are measured first. So the measured queues of the sessions contain
// all data that the files in these folders refer to.
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

// of returns the operations that were in the queue at that time.
func (c cut) of(session string, ops []queued) (then []queued) {
	for _, o := range ops {
		if o.next <= c[session] {
			then = append(then, o)
		}
	}
	return then
}

// arrived reports whether all operations of the sessions at that time were sent, except
// the operations of sessions in conflict, which are never sent.
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
