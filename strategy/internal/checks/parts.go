package checks

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/shell"
)

// A Part is one check of a command with several checks.
type Part struct {
	Name string // the command, without its redirections
	Covering
}

// Parts returns the checks of a command one by one, whatever joins them. It returns nil for fewer
// than two.
func Parts(cmd string) []Part {
	if out := partsOf(shell.WithoutHeredocs(cmd)); len(out) > 1 {
		return out
	}
	return nil
}

// partsOf returns the checks of a script one by one.
func partsOf(script string) (out []Part) {
	var at shellFolder
	for simple := range SimpleCommands(script) {
		simple, closed := at.within(simple)
		w := shell.Installed(shell.WithoutPrefix(shell.Fields(simple)))
		if len(w) == 2 && w[0] == "cd" {
			at.change(w[1])
		}
		if k := checkWords(w); k > 0 {
			words := checked(w)
			name := strings.Join(shell.WithoutPrefix(strings.Fields(strings.ReplaceAll(simple, "2>&1", ""))), " ")
			if ofItsFolder(w, words) {
				words = append(words, ".")
			}
			out = append(out, Part{name, cover(at.now, words, k)})
		}
		at.leave(closed)
	}
	return out
}
