package strategy

import (
	"slices"
	"strings"
)

// A past counts the failed runs before the last run of a check.
type past struct {
	same     int // of the same check
	narrower int // of a part of it
	others   int // of it and of other checks
}

// add counts a result that the newer one replaces, and what that one had replaced.
func (p *past) add(old, now *check) {
	was := old.before
	failed := 0
	if old.call.Outcome == Failed {
		failed = 1
	}
	switch {
	case sameChecks(old.all, now.all):
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

// partOf reports whether another command runs each check of a command, or more.
func partOf(all, of []covering) bool {
	return !slices.ContainsFunc(all, func(c covering) bool {
		return !slices.ContainsFunc(of, func(o covering) bool { return slices.Contains(c.covered, o.own) })
	})
}

// hadFailed tells of the failed runs before, as a suffix. A run of a part of the check is
// no run of it.
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
