package strategy

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
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

// onlyCheck reports whether the whole output of a command comes from one check.
// A verdict in mixed output, such as in a log, can't be attributed to a check.
func onlyCheck(cmd string) bool {
	_, ok := checkAt(cmd)
	return ok
}

// checkAt returns the offset in a command at which its only check begins, if the whole
// output comes from this check. Otherwise, it returns false.
func checkAt(cmd string) (at int, ok bool) {
	cmd = strings.TrimSpace(cmd)
	if !shell.Plain(cmd) {
		return 0, false
	}
	n, before := 0, ""
	for pos := 0; pos <= len(cmd); {
		simple, start := shell.Split(cmd[pos:])[0], pos
		pos += len(simple)
		sep := shell.Separator(cmd[pos:])
		pos += max(1, len(sep))
		w := shell.WithoutPrefix(shell.Fields(simple))
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

// fromCheck shortens a command that is too long to be quoted: it returns the part from
// the check on, because only the check states the outcome of the command. "mv a b; npm
// test" is a test.
func fromCheck(cmd string) string {
	at, ok := checkAt(cmd)
	if cmd = strings.TrimSpace(cmd); !ok || at == 0 || utf8.RuneCountInString(prose.Squash(cmd)) <= maxCommand {
		return cmd
	}
	return "… " + strings.TrimSpace(cmd[at:])
}

// beforeCheck returns the part of a failed command that was carried out before its check
// failed, "" if that is not certain.
func (c *Call) beforeCheck() string {
	cmd := strings.TrimSpace(c.Command())
	at, ok := checkAt(cmd)
	if !ok || c.broke || refusedCall(c.Result) {
		return ""
	}
	if verdict, _ := testReport(c.Result); verdict != testrun.Failure {
		return ""
	}
	for _, simple := range shell.Split(cmd[:at]) {
		if w := shell.WithoutPrefix(shell.Fields(simple)); len(w) > 0 && strings.Contains(c.Result, shell.Base(w[0])+": ") {
			return "" // the command printed an error
		}
	}
	return cmd[:at]
}

// onlyBuild reports whether the whole output of a command comes from one "go build".
func onlyBuild(cmd string) bool {
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
