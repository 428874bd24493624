package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// A transaction follows the tags that a database prints for each statement of a script.
type transaction struct{ open, changed bool }

// sqlTag matches the tag of a statement that changed something.
var sqlTag = lazy.Compile(`^(?:CREATE|ALTER|DROP|TRUNCATE|GRANT|REVOKE)(?: [A-Z]+)+$|^(?:INSERT 0|UPDATE|DELETE|MERGE|COPY) \d+$`)

// kept reports whether a line is the tag of a change that stays: outside of a transaction, or the
// tag of a commit.
func (t *transaction) kept(line string) bool {
	switch {
	case line == "BEGIN", line == "START TRANSACTION":
		*t = transaction{open: true}
	case line == "ROLLBACK":
		*t = transaction{}
	case line == "COMMIT":
		kept := t.changed
		*t = transaction{}
		return kept
	case sqlTag.MatchString(line):
		t.changed = true
		return !t.open
	}
	return false
}

// programComplains reports whether a line begins with the name of a program of the command, and says
// in capitals or behind the place in a script that there is an error: "psql:a.sql:4: ERROR: ...".
func programComplains(cmd, line string) bool {
	name, rest, ok := strings.Cut(line, ":")
	if !ok || name == "" || strings.ContainsAny(name, " \t") || !strings.Contains(rest, ": ERROR: ") && !strings.Contains(rest, ": FATAL: ") && !strings.HasPrefix(strings.ToLower(rest), " error: ") {
		return false
	}
	for _, part := range shell.Split(shell.WithoutHeredocs(cmd)) {
		if w := shell.WithoutPrefix(shell.Fields(part)); len(w) > 0 && shell.Base(w[0]) == shell.Base(name) {
			return true
		}
	}
	return false
}
