package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// shownFile returns the path of the file whose text a result shows, "" if the result may show
// another text, too.
func (c *Call) shownFile() string {
	if len(c.files) != 1 || c.files[0].Op != fileops.Read || !printsOneText(c.Command()) {
		return ""
	}
	return c.files[0].Path
}

// quietCommands are programs that print nothing, or only a mark between two outputs.
var quietCommands = []string{"cd", "pushd", "export", "set", "source", ".", "mkdir", "sleep", "true", ":", "echo", "printf"}

// printsOneText reports whether at most one command of a line prints a text. The filters of a
// pipe belong to the command before them.
func printsOneText(cmd string) bool {
	n, before := 0, ""
	for pos := 0; pos < len(cmd); {
		simple := shell.First(cmd[pos:])
		if line, _, more := strings.Cut(simple, "\n"); more {
			simple = line
		}
		pos += len(simple)
		sep := shell.Separator(cmd[pos:])
		pos += max(1, len(sep))
		w := shell.WithoutPrefix(shell.Fields(strings.TrimSpace(simple)))
		switch {
		case len(w) == 0, slices.Contains(quietCommands, shell.Base(w[0])):
		case strings.HasPrefix(before, "|") && before != "||" && shell.Base(w[0]) != "xargs":
		default:
			n++
		}
		before = sep
	}
	return n <= 1
}

// vainSearch quotes a search that found nothing: the whole command, or else its last part, which
// searched.
func (c *Call) vainSearch() string {
	cmd := shortPaths(c.Command(), c.base)
	if short := shortCommand(cmd); !strings.HasSuffix(short, "…") || !endsInSearch(cmd) {
		return short
	}
	parts := shell.Split(pastHeredocs(cmd))
	return "… " + shortCommand(parts[len(parts)-1])
}

// endsInSearch reports whether the last program of a command is a search: its exit status is
// that of the command.
func endsInSearch(cmd string) bool {
	parts := shell.Split(pastHeredocs(cmd))
	return len(parts) > 0 && prose.BeginsAny(strings.TrimSpace(parts[len(parts)-1]), searches)
}
