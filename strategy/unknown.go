package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// cutHeads are beginnings of the results of calls that were cut off during their run.
var cutHeads = []string{"execution timed out", "command timed out", "error: command timed out", "error: timed out", "error: timeout", "error: request timed out", "timed out after ", "request timed out", "the request timed out", "operation timed out",
	"tool call timed out", "mcp error -32001", "timeout after ", "timeouterror", "504 gateway", "context deadline exceeded", "[request interrupted by user", "command was interrupted", "interrupted by user", "command interrupted", "the command was interrupted", "command was aborted", "tool call was interrupted"}

// cutStatuses are exit statuses of commands that timeout(1) or a signal ended.
var cutStatuses = map[int]string{124: "timed out", 130: "was interrupted", 137: "was killed", 143: "was ended from outside"}

// cutOff describes how a call was cut off during its run, "" if it was not. Such a call
// may already have made its changes.
func (c *Call) cutOff() string {
	text := strings.TrimSpace(body(c.Result))
	low := strings.ToLower(text[:min(len(text), edge)])
	switch {
	case c.Command() == "" && errorPage(c.Result) != "" && strings.Contains(low, "504"), prose.BeginsAny(low, cutHeads) && !strings.Contains(low, "interrupted") && !strings.Contains(low, "aborted"):
		return "timed out"
	case prose.BeginsAny(low, cutHeads):
		return "was interrupted"
	}
	return cutStatuses[c.Exit]
}

// uncertain ends a line about a call that was cut off.
const uncertain = "; whether it took effect is unknown"

// tellCut describes a call that was cut off.
func (c *Call) tellCut(how string) string {
	text := c.name() + " " + how
	if c.Exit > 0 {
		text += c.status()
	}
	if c.attempts() || c.deed() == deedChange {
		text += uncertain
	}
	return text + colon(c.wrong())
}
