package effects

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// Parts returns the parts of a command that change something, in lower case.
func Parts(cmd string) (out []string) {
	cmd = shell.WithoutHeredocs(cmd[:min(len(cmd), shell.MaxLine)])
	for _, simple := range shell.Split(shell.Flatten(strings.ToLower(cmd))) {
		shell.Any(prose.Squash(simple), func(s string) bool {
			if Changes(s) {
				out = append(out, shell.WithoutGlobals(s))
			}
			return true // the rest of the part is quoted text
		})
	}
	return out
}

// Kind returns the first two words of a command, or only the program for curl.
func Kind(simple string) string {
	w := strings.Fields(simple)
	if w[0] == "curl" || len(w) == 1 {
		return w[0]
	}
	return w[0] + " " + w[1]
}
