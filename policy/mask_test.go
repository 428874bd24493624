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

// Whatever Recent marks, the model has not read the results of the open round yet.
func TestMaskLeavesTheOpenRoundAlone(t *testing.T) {
	msgs := loop(3, 100)
	msgs = append(msgs, message.Assistant("", message.Call("open", "bash", "{}"), message.Call("waits", "bash", "{}")), message.ToolResult("open", text(100)))
	v := policy.NewView(msgs, pins, words{})
	v.Budget = budget(10_000)
	p, err := policy.Mask{Recent: func(v *policy.View) []bool { return make([]bool, len(v.Rounds)) }}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("%v, %d groups", err, len(p.Groups))
	}
	var masked []int
	for _, e := range p.Groups[0] {
		masked = append(masked, e.Text.Index)
	}
	if !slices.Equal(masked, []int{3, 5, 7}) {
		t.Errorf("masked are the messages %v of %d", masked, len(msgs))
	}
}
