package strategy

import (
	"cmp"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
)

// checks returns the checks of a call. If a change of the folder failed, the names of the
// checks do not include the folder: mostly, the shell is in that folder already.
func (c *Call) checks() []checks.Covering {
	cmd := c.Command()
	if rest, ok := strings.CutPrefix(strings.TrimSpace(cmd), "cd "); ok && c.Outcome == Failed && strings.Contains(c.Result, "cd: ") {
		if _, after, ok := strings.Cut(rest, "&&"); ok {
			cmd = after
		}
	}
	return checks.Of(cmp.Or(cmd, c.name()))
}
