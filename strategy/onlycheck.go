package strategy

import (
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// fromCheck shortens a command that is too long to be quoted: it returns the part from
// the check on, because only the check states the outcome of the command. "mv a b; npm
// test" is a test.
func fromCheck(cmd string) string {
	at, ok := checks.At(cmd)
	if cmd = strings.TrimSpace(cmd); !ok || at == 0 || utf8.RuneCountInString(prose.Squash(cmd)) <= maxCommand {
		return cmd
	}
	return "… " + strings.TrimSpace(cmd[at:])
}

// beforeCheck returns the part of a failed command that was carried out before its check
// failed, "" if that is not certain.
func (c *Call) beforeCheck() string {
	cmd := strings.TrimSpace(c.Command())
	at, ok := checks.At(cmd)
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
