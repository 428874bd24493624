package strategy

import (
	"slices"
	"strings"
)

// scriptShells lists programs that run the text of a here-document as commands.
var scriptShells = []string{"bash", "sh", "zsh", "ksh", "ssh"}

// outsideHeredocs returns the lines of a script that are not the text of a here-document
// for a program that is not a shell. Such a text is data, even if it looks like
// commands. ok is false if a here-document does not end; its text then is unknown.
func outsideHeredocs(cmd string) (lines []string, ok bool) {
	end := ""
	for line := range strings.Lines(strings.ReplaceAll(cmd, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if end != "" {
			if line == end {
				end = ""
			}
			continue
		}
		if line == "" {
			continue
		}
		lines = append(lines, line)
		before, _, _ := strings.Cut(line, "<<")
		parts := splitCommands(before)
		if w := withoutPrefix(fields(parts[len(parts)-1])); len(w) == 0 || !slices.Contains(scriptShells, base(w[0])) {
			end = heredocEnd(line)
		}
	}
	return lines, end == ""
}

// withoutHeredocs returns the script without the text of its here-documents, or the
// whole script if a here-document does not end.
func withoutHeredocs(cmd string) string {
	if !strings.Contains(cmd, "<<") {
		return cmd
	}
	lines, ok := outsideHeredocs(cmd)
	if !ok {
		return cmd
	}
	return strings.Join(lines, "\n")
}

// pastHeredocs returns the form in which a line quotes a script with here-documents: the
// text of a here-document is "…", and the commands after it follow, because they
// determine the outcome. If the form is too long to quote, it is the last command that
// checks or changes something, or else the last command.
func pastHeredocs(cmd string) string {
	if !strings.Contains(cmd, "<<") || !strings.Contains(cmd, "\n") {
		return cmd
	}
	lines, ok := outsideHeredocs(cmd)
	if !ok || len(lines) == 0 {
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
		inText = heredocEnd(line) != ""
	}
	if whole := strings.Join(commands, "; "); len(commands) < 2 || len(whole) <= maxCommand {
		return whole
	}
	for _, c := range slices.Backward(commands) {
		if low := strings.ToLower(c); len(effectParts(low)) > 0 || anyCommand(low, beginsCheck) {
			return "…; " + c
		}
	}
	return "…; " + commands[len(commands)-1]
}
