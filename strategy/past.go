package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
)

// A past counts the failed runs before the last run of a check.
type past struct {
	same     int // failed runs of the same check
	narrower int // failed runs of a part of the check
	others   int // failed runs of the check together with other checks
}

// add counts the result old and the results that it had replaced. The newer result, now,
// replaces old.
func (p *past) add(old, now *check) {
	was := old.before
	failed := 0
	if old.call.Outcome == Failed {
		failed = 1
	}
	switch {
	case checks.Same(old.all, now.all):
		p.same += was.same + failed
		p.narrower += was.narrower
		p.others += was.others
	case partOf(old.all, now.all):
		p.narrower += was.same + was.narrower + failed
		p.others += was.others
	default:
		p.others += was.same + was.narrower + was.others + failed
	}
}

// partOf reports whether each check in all, the checks of one command, is covered by a
// check in of, the checks of another command.
func partOf(all, of []checks.Covering) bool {
	return !slices.ContainsFunc(all, func(c checks.Covering) bool {
		return !slices.ContainsFunc(of, func(o checks.Covering) bool { return slices.Contains(c.Covered, o.Own) })
	})
}

// hadFailed returns a suffix about the earlier failed runs. A run of a part of the check
// does not count as a run of the check.
func (c *check) hadFailed() string {
	var had []string
	for _, one := range []struct {
		what string
		n    int
	}{{"it", c.before.same}, {"narrower runs", c.before.narrower}, {"runs with other checks", c.before.others}} {
		if one.n > 0 {
			had = append(had, one.what+" had failed "+times(one.n))
		}
	}
	if len(had) == 0 {
		return ""
	}
	return ", after " + strings.Join(had, " and ")
}
