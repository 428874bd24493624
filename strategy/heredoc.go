package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// pastHeredocs returns the form in which a line quotes a script with here-documents: the
// text of a here-document is "…", and the commands after it follow, because they
// determine the outcome. If the form is too long to quote, it is the last command that
// checks or changes something, or else the last command.
func pastHeredocs(cmd string) string {
	if !strings.Contains(cmd, "<<") || !strings.Contains(cmd, "\n") {
		return cmd
	}
	lines, ok := shell.OutsideHeredocs(cmd)
	if !ok {
		first, _, _ := strings.Cut(strings.ReplaceAll(cmd, "\\\n", " "), "\n")
		return first
	}
	var commands []string
	inText := false // the line before begins a here-document
	for _, line := range lines {
		line = strings.TrimSuffix(line, ";")
		if inText {
			commands[len(commands)-1] += " …"
		}
		switch {
		case inText && strings.HasPrefix(line, ")"): // the end of $(cat <<'EOF'
			commands[len(commands)-1] += line
		case strings.HasPrefix(line, "#"):
		default:
			commands = append(commands, line)
		}
		inText = shell.HeredocEnd(line) != ""
	}
	if whole := strings.Join(commands, "; "); len(commands) < 2 || len(whole) <= maxCommand {
		return whole
	}
	for _, c := range slices.Backward(commands) {
		if low := strings.ToLower(c); len(effects.Parts(low)) > 0 || shell.Any(low, checks.Begins) {
			return "…; " + c
		}
	}
	return "…; " + commands[len(commands)-1]
}
