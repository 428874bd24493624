package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// replaying lists the commands of git that apply several commits, so that one may succeed before
// another fails.
var replaying = []string{"rebase", "cherry-pick", "am", "revert", "pull", "merge"}

// replays reports whether a command applies several commits.
func (c *Call) replays() bool { return len(c.replayed()) > 0 }

// replayed returns the subcommands of git in a command that apply several commits.
func (c *Call) replayed() (out []string) {
	for _, part := range effects.Parts(c.Command()) {
		if w := shell.Fields(part); len(w) > 1 && w[0] == "git" && slices.Contains(replaying, w[1]) {
			out = append(out, w[1])
		}
	}
	return out
}

// abandoned returns a note about a later command that aborts the work of a call, such as git
// rebase --abort, "" if there is none.
func (h *History) abandoned(c *Call, step int) string {
	subs, note := c.replayed(), ""
	h.eachCall(func(s *Step, later *Call) {
		if s.ID <= step || note != "" || !later.Answered {
			return
		}
		if slices.ContainsFunc(subs, func(sub string) bool {
			return shell.Any(later.Command(), func(simple string) bool { return strings.HasPrefix(simple, "git "+sub+" --abort") })
		}) {
			note = " (then aborted " + stepID(s.ID) + ")"
		}
	})
	return note
}
