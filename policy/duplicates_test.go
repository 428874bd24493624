package policy_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
)

// reminded returns a conversation in which a rule of 20 words recurs, and another
// rule.
func reminded() []message.Message {
	rule := func() message.Message { return message.System(text(18)) }
	return []message.Message{
		rule(),                            // 0
		message.User("one"),               // 1
		rule(),                            // 2
		message.System(text(17) + " not"), // 3
		message.Assistant("done"),         // 4
		message.User("two"),               // 5
		rule(),                            // 6
		message.Assistant("done"),         // 7
		rule(),                            // 8
		message.User("three"),             // 9
	}
}

var copies = reduce.Step{Goal: policy.ToBudget, Stage: policy.Duplicates{}}

func dropped(o *reduce.Outcome) (at []int) {
	for i := range o.Conversation.Inputs() {
		if d, why := o.Conversation.Decision(i); d == policy.Dropped && why == "duplicate_of" {
			at = append(at, i)
		}
	}
	return at
}

func TestDuplicatesRemovesOldCopiesAboveTheBudget(t *testing.T) {
	all := 0
	for _, m := range reminded() {
		all += words{}.Message(m)
	}
	for _, c := range []struct {
		limit int
		gone  []int
	}{{all, nil}, {all - 1, []int{2}}, {all - 20, []int{2}}, {all - 21, []int{2, 6}}, {all - 60, []int{0, 2, 6}}} {
		out, err := run(t, engine(copies), reminded(), budget(c.limit))
		if err != nil || !slices.Equal(dropped(out), c.gone) || out.View.Total() > c.limit {
			t.Errorf("limit of %d tokens: %v were removed, %d tokens are left, error %v; want %v removed", c.limit, dropped(out), out.View.Total(), err, c.gone)
		}
	}
	out, err := run(t, engine(copies), reminded(), budget(all-61))
	var b *policy.BudgetError
	if !errors.As(err, &b) || b.Tokens != all-60 {
		t.Errorf("removed %v, error %v; want only messages with a newer copy removed", dropped(out), err)
	}
}

// A message does not count as a copy if the caller protects it, if it differs in a byte,
// if it is inside a round, or if its role does not pin it.
func TestDuplicatesKeepsMessagesWithoutANewerCopy(t *testing.T) {
	rule, user := message.System(text(18)), message.User("go")
	guarded := rule
	guarded.Protected = true
	named := rule
	named.Name = "boss"
	call := message.Assistant("", message.Call("c", "bash", `{}`))
	read := func(more string) message.Message {
		m, err := openai.ParseMessage([]byte(`{"role":"system","content":"` + rule.Text() + `"` + more + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, msgs := range map[string][]message.Message{
		"protected":                     {guarded, user, guarded, user},
		"another name":                  {named, user, rule, user},
		"other bytes":                   {read(`,"cache_control":{"type":"ephemeral"}`), user, read(""), user},
		"another role":                  {message.Developer(rule.Text()), user, rule, user},
		"within a round":                {user, call, rule, message.ToolResult("c", "ok"), rule, user},
		"adjacent copies":               {user, message.Assistant("ok"), rule, rule},
		"after a call without a result": {user, call, rule, message.ToolResult("other", "x"), rule, user},
		"the newest copy":               {user, rule},
		"a message of the user":         {message.User(rule.Text()), message.Assistant("ok"), message.User(rule.Text()), user},
	} {
		out, _ := run(t, engine(copies), msgs, budget(1))
		if len(dropped(out)) > 0 || out.Changed() || len(out.Passes) > 0 {
			t.Errorf("%s: %v were removed", name, dropped(out))
		}
	}
	e := engine(copies)
	e.Pins = nil
	if out, _ := run(t, e, reminded(), budget(1)); out.Changed() {
		t.Error("duplicates removed a message that no role pins")
	}
}

// takesPinned is a stage that removes a pinned message.
type takesPinned struct{ at []int }

func (takesPinned) Name() string { return "takes" }

func (s takesPinned) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: s.at, Copies: true}}}}}, nil
}

func TestEngineKeepsPinnedMessagesWithoutACopy(t *testing.T) {
	for _, at := range [][]int{{3}, {8}, {0, 2, 6, 8}} {
		out, _ := run(t, engine(reduce.Step{Goal: policy.All, Stage: takesPinned{at}}), reminded(), budget(1_000))
		if out.Changed() || !out.Passes[0].Discarded {
			t.Errorf("%v were removed", at)
		}
	}
	guarded := reminded()
	guarded[2].Protected = true
	if out, _ := run(t, engine(reduce.Step{Goal: policy.All, Stage: takesPinned{[]int{2}}}), guarded, budget(1_000)); out.Changed() {
		t.Error("the stage removed a copy that the caller protects")
	}
	if out, _ := run(t, engine(reduce.Step{Goal: policy.All, Stage: takesPinned{[]int{2}}}), reminded(), budget(1_000)); !out.Changed() {
		t.Error("the engine refused to remove a removable copy")
	}
}

// Copies before an unanswered user message can be removed.
func TestDuplicatesRemovesCopiesBeforeTheFirstAnswer(t *testing.T) {
	rule := message.System(text(18))
	out, err := run(t, engine(copies), []message.Message{rule, rule, rule, message.User("go")}, budget(30))
	if err != nil || !slices.Equal(dropped(out), []int{0, 1}) {
		t.Errorf("%v were removed, error %v, want [0 1]", dropped(out), err)
	}
}

// The floor of an engine counts copies as removable if the engine has the stage.
func TestFloorExcludesRemovableCopies(t *testing.T) {
	all := policy.NewView(reminded(), pins, words{}).Total()
	e := engine(copies, reduce.Step{Stage: cutAll{}})
	e.Floors = true
	if _, err := run(t, e, reminded(), budget(all-60)); err != nil {
		t.Error(err)
	}
	if _, err := run(t, engine(reduce.Step{Stage: cutAll{}}), reminded(), budget(all-60)); err == nil {
		t.Error("the view fits, although no stage removes the copies")
	}
}

// stepOf returns the record of an outcome in the ledger, in the form that another process
// reads.
func stepOf(t *testing.T, before *reduce.Conversation, out *reduce.Outcome) (s reduce.TrailStep) {
	t.Helper()
	for _, p := range out.Passes {
		if p.Applied > 0 {
			s.Recipes = append(s.Recipes, p.Recipe)
		}
	}
	in, n := reduce.Coverage(s.Recipes)
	s.In, s.Out = before.Chain().At(before, in), out.Conversation.Chain().At(out.Conversation, n)
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back reduce.TrailStep
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// A replay removes the same copies again, both from the whole history and from a history
// with more copies. It removes nothing from a view that the caller sends back.
func TestReplayRemovesCopiesAgain(t *testing.T) {
	msgs := reminded()
	twice := slices.Insert(slices.Clone(msgs), 2, msgs[2])
	for _, c := range []struct {
		msgs []message.Message
		over int
	}{{msgs, 1}, {msgs, 21}, {msgs, 60}, {twice, 1}, {twice, 21}} {
		staysAway(t, c.msgs, c.over)
	}
}

func staysAway(t *testing.T, msgs []message.Message, over int) {
	t.Helper()
	before := reduce.NewConversation(msgs, pins, nil)
	out, err := run(t, engine(copies), msgs, budget(policy.NewView(msgs, pins, words{}).Total()-over))
	if err != nil {
		t.Fatal(err)
	}
	step, view := stepOf(t, before, out), out.Conversation.Messages()
	more := []message.Message{message.System(text(18)), message.Assistant("done"), message.System(text(18)), message.User("four")}
	for name, c := range map[string]struct{ in, want []message.Message }{
		"the whole history": {msgs, view},
		"and more":          {append(slices.Clone(msgs), more...), append(slices.Clone(view), more...)},
		"the view":          {view, view},
		"the view and more": {append(slices.Clone(view), more...), append(slices.Clone(view), more...)},
	} {
		got := again(t, c.in, step)
		if !slices.EqualFunc(got, c.want, message.Identical) {
			t.Errorf("%d tokens over, %s: %d messages, want %d", over, name, len(got), len(c.want))
		}
	}
}

// If the newest copy is missing, or a rule was rewritten, older copies stay.
func TestReplayKeepsTheLastCopy(t *testing.T) {
	msgs := reminded()
	before := reduce.NewConversation(msgs, pins, nil)
	out, err := run(t, engine(copies), msgs, budget(policy.NewView(msgs, pins, words{}).Total()-60))
	if err != nil {
		t.Fatal(err)
	}
	step := stepOf(t, before, out)
	alone := append([]message.Message{msgs[0], msgs[1]}, msgs[3], msgs[4], msgs[5], msgs[7], msgs[9])
	if got := again(t, alone, step); !slices.EqualFunc(got, alone, message.Identical) {
		t.Errorf("%d messages of %d are left, want all", len(got), len(alone))
	}
	anew := slices.Clone(msgs)
	for _, i := range []int{0, 2, 6, 8} {
		anew[i] = message.System("today " + text(18))
	}
	if got := again(t, anew, step); !slices.EqualFunc(got, anew, message.Identical) {
		t.Errorf("%d messages of %d are left, want all", len(got), len(anew))
	}
	more := slices.Insert(slices.Clone(msgs), 2, msgs[2]) // the caller has added a copy since
	if got := again(t, more, step); len(got) != len(more)-2 {
		t.Errorf("%d messages of %d are left, want all but 2: between messages 1 and 4 the copies are not those of the step", len(got), len(more))
	}
	guarded := slices.Clone(msgs)
	guarded[6].Protected = true // protected after the step was made
	if got := again(t, guarded, step); !slices.ContainsFunc(got, func(m message.Message) bool { return m.Protected }) {
		t.Error("the replay removed a copy that the caller protects now")
	}
}

// again applies a step to a history.
func again(t *testing.T, history []message.Message, step reduce.TrailStep) []message.Message {
	t.Helper()
	tr := reduce.NewTrail(history, pins, nil, nil)
	if !tr.Has(step.In) {
		t.Fatal("the history does not begin with the prefix of the step")
	}
	if _, err := tr.Make(step, nil); err != nil {
		t.Fatal(err)
	}
	conv, _ := tr.End()
	return conv.Messages()
}

// The target of an engine does not depend on whether copies may be removed.
func TestHasTargetIgnoresDuplicates(t *testing.T) {
	for name, c := range map[string]struct {
		step reduce.Step
		want bool
	}{
		"at every call":  {reduce.Step{When: policy.Always, Stage: policy.Mask{}}, true},
		"for the target": {reduce.Step{Stage: cutAll{}}, true},
		"for the budget": {reduce.Step{Goal: policy.ToBudget, Stage: compat.Groups{}}, false},
	} {
		if got := engine(copies, c.step).HasTarget(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
