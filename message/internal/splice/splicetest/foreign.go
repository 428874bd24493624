package splicetest

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// Foreign checks views against a body to which they do not belong: they must be
// neither written nor accepted. Both bodies have a system prompt and an item
// with results and something else; other has different texts, and one more of
// each.
func Foreign(t *testing.T, f wire.Format, body, other string) {
	t.Helper()
	r := wiretest.Parse(t, f, body)
	ours, theirs := r.Messages(), wiretest.Parse(t, f, other).Messages()
	if len(ours) != 3 || len(theirs) != 3 || ours[1].Role != message.RoleTool || ours[2].Role != message.RoleUser {
		t.Fatalf("%v and %v", wiretest.Outline(ours), wiretest.Outline(theirs))
	}
	prompt, results, rest := ours[0], ours[1], ours[2]
	for name, view := range map[string][]message.Message{
		"another system prompt":   {theirs[0], results, rest},
		"the results of another":  {prompt, theirs[1], rest},
		"the rest of another":     {prompt, results, theirs[2]},
		"results that were made":  {prompt, message.ToolResult("1", "x"), rest},
		"a rest that was made":    {prompt, results, message.User("x")},
		"results of other wires":  {prompt, message.FromWire(results, "other", results.Raw(), nil), rest},
		"a rest of another wire":  {prompt, results, message.FromWire(rest, "other", rest.Raw(), nil)},
		"the rest as the results": {prompt, rest, rest},
		"the results as the rest": {prompt, results, results},
	} {
		refused(t, name, r, view, []int{0, 1, 2})
	}
	refused(t, "no system prompt", r, ours[1:], []int{1, 2})
	refused(t, "the system prompt twice", r, []message.Message{prompt, prompt, results, rest}, []int{0, 0, 1, 2})
}

func refused(t *testing.T, name string, r wire.Request, view []message.Message, sources []int) {
	t.Helper()
	if out, err := r.Write(view, sources); err == nil {
		t.Errorf("%s: written as %s", name, out)
	}
	if len(r.Check(view, sources)) == 0 {
		t.Errorf("%s: no rule is broken", name)
	}
}
