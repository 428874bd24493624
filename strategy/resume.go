package strategy

import "strings"

// resume joins calls that wait for a running command with the call that began
// it: their results show how the command ended.
func (h *History) resume() {
	began := map[string]*Call{}
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			c := &h.Steps[i].Calls[k]
			if id := c.arg("session_id", "shellId", "shell_id", "bash_id"); id != "" && c.Command() == "" && began[id] != nil {
				c.Tool, c.Args = began[id].Tool, began[id].Args
			}
			if id := sessionID(c.Result); id != "" && c.Command() != "" {
				began[id] = c
			}
		}
	}
}

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
