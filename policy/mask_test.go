package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// Some servers restart the ids of calls at every turn.
func TestExcludedToolsAreThoseOfTheResultsOwnCall(t *testing.T) {
	var msgs []message.Message
	for _, tool := range []string{"keep", "mask", "keep", "mask", "last"} {
		msgs = append(msgs, message.User("go on"), message.Assistant("", message.Call("call_0", tool, "{}")), message.ToolResult("call_0", tool+strings.Repeat(" word", 200)))
	}
	v := policy.NewView(msgs, nil, words{})
	p, err := policy.Mask{WindowTurns: 1, ExcludeTools: []string{"keep"}}.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	var masked []string
	for _, g := range p.Groups {
		for _, e := range g {
			masked = append(masked, msgs[e.Text.Index-1].Parts[0].Name)
		}
	}
	if !slices.Equal(masked, []string{"mask", "mask"}) {
		t.Errorf("masked are the results of %v", masked)
	}
}
