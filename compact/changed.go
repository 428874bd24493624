package compact

import (
	"strings"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// changes holds the files of a session's archive that were changed since they were
// stored. They are not used; compactions are decided again from the history. The
// session's mutex guards it.
type changes struct {
	all  []*storage.ChangedError
	told int // number of elements of all that were reported
}

// maxChanges limits the number of remembered changes.
const maxChanges = 100

// note adds a change, unless the change is known or maxChanges are remembered.
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
