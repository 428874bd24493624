package checks

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

var (
	// silentCommands print nothing that could pass for the output of a check.
	silentCommands = []string{"cd", "pushd", "export", "unset", "set", "source", ".", "ulimit", "umask", "mkdir", "rm", "cp", "mv", "touch", "sleep", "true", ":", "exit"}
	// builders are checks that print nothing about a success.
	builders = []string{"go build", "go vet", "cargo build", "cargo check", "cargo clippy", "tsc", "npx tsc", "ruff", "mypy"}
	// filters print their input, or a part of it.
	filters = []string{"tail", "head", "grep", "egrep", "rg", "sed", "awk", "cut", "sort", "uniq", "tr", "tee", "cat"}
)

// Only reports whether the whole output of a command comes from one check.
// A verdict in mixed output, such as in a log, can't be attributed to a check.
func Only(cmd string) bool {
	_, ok := At(cmd)
	return ok
}

// At returns the offset in a command at which its only check begins, if the whole
// output comes from this check. Otherwise, it returns false.
func At(cmd string) (at int, ok bool) {
	cmd = strings.TrimSpace(cmd)
	if !shell.Plain(cmd) {
		return 0, false
	}
	n, before := 0, ""
	for pos := 0; pos <= len(cmd); {
		simple, start := shell.First(cmd[pos:]), pos
		pos += len(simple)
		sep := shell.Separator(cmd[pos:])
		pos += max(1, len(sep))
		w := shell.Installed(shell.WithoutPrefix(shell.Fields(simple)))
		switch {
		case len(w) == 0, saysNothing(w, before):
		case builds(w) && (before == "" || before == "&&") && (sep == "" || sep == "&&"):
		case checkWords(w) > 0 && !builds(w) && !strings.HasPrefix(before, "|"):
			n++
			at = start
		default:
			return 0, false
		}
		before = sep
	}
	return at, n == 1
}

// OnlyBuild reports whether the whole output of a command comes from one "go build".
func OnlyBuild(cmd string) bool {
	n := 0
	for _, simple := range shell.Split(cmd) {
		w := shell.WithoutPrefix(shell.Fields(simple))
		switch {
		case len(w) > 1 && w[0] == "go" && w[1] == "build":
			n++
		case len(w) > 0 && !slices.Contains(silentCommands, w[0]):
			return false
		}
	}
	return n == 1 && shell.Plain(cmd)
}

// saysNothing reports whether a command prints no verdict. before is the separator
// before the command.
func saysNothing(w []string, before string) bool {
	switch {
	case strings.HasPrefix(before, "|") && before != "||":
		return slices.Contains(filters, w[0]) && (w[0] != "cat" || len(w) == 1)
	case w[0] == "sed":
		return slices.Contains(w, "-i")
	case w[0] == "git" && len(w) > 2:
		return w[1] == "add" || w[1] == "restore" || w[1] == "checkout" && slices.Contains(w, "--")
	case w[0] == "echo":
		return echoesStatus(w[1:])
	}
	return slices.Contains(silentCommands, w[0])
}

// echoesStatus reports whether an echo prints the exit status of the command
// before it, and no file or other variable.
func echoesStatus(args []string) bool {
	text := strings.Join(args, " ")
	rest := strings.NewReplacer("$?", "", "${PIPESTATUS[0]}", "").Replace(text)
	return rest != text && !strings.ContainsAny(rest, "$`\\>")
}

func builds(w []string) bool {
	text := strings.Join(w, " ")
	return slices.ContainsFunc(builders, func(b string) bool { return text == b || strings.HasPrefix(text, b+" ") })
}

// HidesStatus reports whether the status zero may belong to another command than the
// check: the output goes through a pipe, or another command follows. If the command
// line has a check, the check is the command that matters.
func HidesStatus(cmd string) bool {
	if strings.Contains(cmd, "pipefail") && !strings.ContainsAny(cmd, ";") {
		return false
	}
	parts := shell.Split(prose.LastLine(cmd))
	for i, p := range parts {
		if Begins(strings.TrimSpace(p)) {
			return i < len(parts)-1 || strings.Contains(cmd, "|| true")
		}
	}
	return len(parts) > 1 && strings.ContainsAny(cmd, "|;\n")
}
