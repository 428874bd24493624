package redact

import (
	"slices"
	"strings"
	"sync"
)

// maxNames is the maximum number of names of a session. The first name stays; the
// oldest of the other names is dropped.
const maxNames = 128

// names holds the names of a session and its agents, which are in every line of the
// session's log. A rule that finds a name only because of the word before it, such as
// "session", has not found a secret. A names is safe for concurrent use.
type names struct {
	mu   sync.RWMutex
	list []string
}

func (n *names) add(all []Text) {
	for _, t := range all {
		if t.s != "" && !n.whole(t.s) {
			n.addOne(t.s)
		}
	}
}

func (n *names) addOne(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) == maxNames {
		n.list = slices.Delete(n.list, 1, 2)
	}
	n.list = append(n.list, name)
}

// whole reports whether s is a name.
func (n *names) whole(s string) bool {
	if n == nil {
		return false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.Contains(n.list, s)
}

// hold reports whether a finding in s is a name, or a part of one, and was
// found only because of the word before it.
func (n *names) hold(s string, f span) bool {
	if n == nil || !f.rule.weak {
		return false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.ContainsFunc(n.list, func(name string) bool {
		from, to := max(0, f.end-len(name)), min(len(s), f.start+len(name))
		return from < to && strings.Contains(s[from:to], name)
	})
}
