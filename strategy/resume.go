package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// resume replaces the tool and the arguments of each call that waits for a running command
// by those of the call that began the command, because the result of the waiting call shows
// how the command ended. It does not change a call that stops the command.
func (h *History) resume() {
	began := map[string]*Call{}
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			c := &h.Steps[i].Calls[k]
			if id := c.shellID(); id != "" && c.Command() == "" && began[id] != nil && !c.stops() {
				c.Tool, c.Args = began[id].Tool, began[id].Args
			}
			if id := sessionID(c.Result); id != "" && c.Command() != "" {
				began[id] = c
			}
		}
	}
}

// shellID returns the argument of a call that names a running command, "" if there is none.
func (c *Call) shellID() string { return c.arg("session_id", "shellId", "shell_id", "bash_id") }

// stoppingVerbs are verbs in the names of tools that end a running command.
var stoppingVerbs = []string{"stop", "kill", "terminate", "cancel", "interrupt"}

// stops reports whether a call ends a running command.
func (c *Call) stops() bool { return prose.HasAny(strings.ToLower(c.Tool), stoppingVerbs) }

// sessionID returns the id of a running command, as its result states it.
func sessionID(result string) string {
	head := result[:min(len(result), edge)]
	for _, mark := range []string{"Process running with session ID ", "<command with shellId: ", "running in background with ID: "} {
		if _, rest, ok := strings.Cut(head, mark); ok {
			end := strings.IndexAny(rest, " \n.")
			if end < 0 {
				end = len(rest)
			}
			return rest[:end]
		}
	}
	return ""
}
