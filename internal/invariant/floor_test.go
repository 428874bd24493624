package invariant

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestFloorCountsMessagesThatMustStay(t *testing.T) {
	in := history(t)
	marker := bareMarker("", textCost(in[12].Parts[0].Text))
	want := 3
	for _, i := range []int{0, 1, 8, 11, 13, 14} {
		want += cost(in[i])
	}
	want += cost(edit(t, in[12], marker))
	if got := (Plan{}).Floor(in, byRole, cost, 3); got != want {
		t.Errorf("floor %d, want %d", got, want)
	}
}

func TestFloorLeavesPinnedResultsAndPlaceholders(t *testing.T) {
	in := history(t)
	in[12].Protected = true
	if a, b := (Plan{}).Floor(in, byRole, cost, 0), cost(in[12]); a < b {
		t.Errorf("floor %d, want at least %d, the cost of the pinned result", a, b)
	}
	in = []message.Message{message.User("u"), ask("1"), message.ToolResult("1", "[observation masked — 100000 chars · recall 0123456789ab]")}
	if got, want := (Plan{}).Floor(in, nil, cost, 0), sum(costs(in, cost)); got != want {
		t.Errorf("floor %d, want %d: a placeholder is not cut", got, want)
	}
}

func TestFloorMarkerFollowsWhatTruncationKeeps(t *testing.T) {
	for keep, want := range map[string]string{
		"":     "\n\n[truncated: kept first ~0 of ~7 tokens (head)]",
		"head": "\n\n[truncated: kept first ~0 of ~7 tokens (head)]",
		"tail": "[truncated: kept last ~0 of ~7 tokens (tail)]\n\n",
		"both": "\n\n[truncated: kept first+last ~0 of ~7 tokens (both)]\n\n",
	} {
		if got := bareMarker(keep, 7); got != want {
			t.Errorf("%q: %q, want %q", keep, got, want)
		}
	}
}

func TestFloorDependsOnTheStages(t *testing.T) {
	in := history(t)
	all := sum(costs(in, cost))
	summarized := (Plan{}).Floor(in, nil, cost, 0)
	for _, p := range []struct {
		plan        Plan
		least, most int
	}{
		{Plan{Stages: []string{"mask"}, MaskTurns: 100}, all, all},
		{Plan{Stages: []string{"mask"}}, summarized, all - 1},
		{Plan{Stages: []string{"squeeze"}}, summarized, all - 1},
		{Plan{Stages: []string{"summarize"}, KeepTurns: 100, KeepPairs: 100}, all, all},
		{Plan{Stages: []string{"summarize", "shrink", "squeeze"}}, summarized, summarized},
		{Plan{Stages: []string{"drop", "squeeze"}}, 1, summarized},
	} {
		if got := p.plan.Floor(in, nil, cost, 0); got < p.least || got > p.most {
			t.Errorf("%v: %d, want %d to %d", p.plan.Stages, got, p.least, p.most)
		}
	}
}

func TestCheckRefusalFindsWrongRefusals(t *testing.T) {
	in := history(t)
	floor := (Plan{}).Floor(in, byRole, cost, 3)
	right := Refusal{In: in, Out: slices.Clone(in), Pinned: byRole, Cost: cost, Fixed: 3, Budget: floor - 1, Tokens: floor, Parts: floor, Named: []int{12, 8}}
	if found := CheckRefusal(right); found != nil {
		t.Errorf("a correct refusal: CheckRefusal reports %v, want nothing", found)
	}
	for name, harm := range map[string]func(r *Refusal){
		"the floor fits the budget":       func(r *Refusal) { r.Budget = floor },
		"the history was changed":         func(r *Refusal) { r.Out = r.Out[1:] },
		"no message is named":             func(r *Refusal) { r.Named = nil },
		"a message is named twice":        func(r *Refusal) { r.Named = []int{8, 8} },
		"a named message does not exist":  func(r *Refusal) { r.Named = []int{99} },
		"the parts do not add up":         func(r *Refusal) { r.Parts-- },
		"the stated size fits the budget": func(r *Refusal) { r.Tokens, r.Parts = r.Budget, r.Budget },
	} {
		wrong := right
		harm(&wrong)
		if found := CheckRefusal(wrong); !slices.Equal(rules(found), []string{RuleInsufficient}) {
			t.Errorf("%s: CheckRefusal reports %v, want RuleInsufficient", name, found)
		}
	}
}
