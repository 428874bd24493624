package strategy

import "strings"

// resume joins the calls that wait for a command which goes on with the call
// that began it: what they return is how that command came out.
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

// sessionID is the number of a command that goes on, as its result states it.
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
