package compact

import (
	"errors"
	"strings"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// changes holds the files of a session's archive that were changed since they were
// stored. They are not used; compactions are decided again from the history. The
// session's mutex guards it.
type changes struct {
	all  []*storage.ChangedError
	told int // of all
}

// maxChanges limits the number of remembered changes.
const maxChanges = 100

// note adds a change, unless the change is known.
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

// isChange reports whether an error is a [storage.ChangedError], and records
// it.
func (s *session) isChange(err error) bool {
	var e *storage.ChangedError
	if !errors.As(err, &e) {
		return false
	}
	s.noteChange(e)
	return true
}

// sayChanged reports newly found changed files once, in the result and in an
// event. Dry runs and observed calls don't use up the report.
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
		c.emitError("ArchiveChanged", insteadOf(e), e)
	}
}

// insteadOf describes the replacement for a changed file. Decisions that can't be
// read are made again from the history; removed text that can't be read is not
// returned.
func insteadOf(e *storage.ChangedError) string {
	for _, decides := range []string{"ledger-", "summary-", "edits"} {
		if strings.HasPrefix(e.File, decides) {
			return trace.FallbackNewEpoch
		}
	}
	return trace.FallbackNotUsed
}
