package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A row of the log about an effect without a decision has the words beside the call as its reason,
// but not words that would read as its outcome.
func TestRowOfAnEffectHasTheWordsBesideIt(t *testing.T) {
	row := func(says string) string {
		in := long("Set it up.", message.Assistant(says, message.Call("1", "bash", `{"command":"kubectl apply -f web.yaml"}`)), message.ToolResult("1", "deployment.apps/web created"))
		in.Count = func(s string) int { return (len(s) + 3) / 4 }
		return written(t, decisionLog, 1500, in)
	}
	if text := row("The container needs a second replica."); !strings.Contains(text, "`kubectl apply -f web.yaml` :: The container needs a second replica. :: - :: deployment.apps/web created") {
		t.Errorf("the reason is missing in:\n%s", text)
	}
	if text := row("All replicas passed their checks."); strings.Contains(text, ":: All replicas passed") {
		t.Errorf("a claim is the reason in:\n%s", text)
	}
}
