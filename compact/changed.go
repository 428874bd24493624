package compact

import (
	"errors"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// changes is what a session has found in its archive that is not what was
// stored. None of it is used; what its steps did is done anew, from the history.
// The session's mutex guards it.
type changes struct {
	all  []*storage.ChangedError
	told int // of all
}

// maxChanges bounds what is remembered; whoever has found so many knows enough.
const maxChanges = 100

// note remembers a change once.
func (c *changes) note(e *storage.ChangedError) {
	if e == nil || len(c.all) >= maxChanges {
		return
	}
	for _, known := range c.all {
		if *known == *e {
			return
		}
	}
	c.all = append(c.all, e)
}

func (s *session) noteChange(e *storage.ChangedError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes.note(e)
}

// isChange reports whether an error is that something is not what was stored,
// and remembers it.
func (s *session) isChange(err error) bool {
	var e *storage.ChangedError
	if !errors.As(err, &e) {
		return false
	}
	s.noteChange(e)
	return true
}

// sayChanged says in the result, and once in an event, which files of the
// session are not what was stored.
func (c *call) sayChanged() {
	if c.s == nil {
		return
	}
	c.s.mu.Lock()
	fresh := c.s.changes.all[c.s.changes.told:]
	if !c.q.dry && !c.q.observe {
		c.s.changes.told = len(c.s.changes.all)
	}
	c.s.mu.Unlock()
	for _, e := range fresh {
		c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text("the archive was changed: "+e.Error()).String())
		c.emitError("ArchiveChanged", trace.FallbackNone, e)
	}
}
