package policy_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// partialStage is a stage that masks some results and reports errors for other parts.
type partialStage struct{ failed []error }

func (partialStage) Name() string { return "partly" }

func (s partialStage) Propose(ctx context.Context, v *policy.View) (policy.Proposal, error) {
	p, err := policy.Mask{WindowTurns: 1}.Propose(ctx, v)
	p.Failed = s.failed
	return p, err
}

// The engine reports the failed parts of a stage, and applies its edits.
func TestEngineReportsFailedPartsAndAppliesTheEdits(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	for _, failed := range [][]error{nil, {one}, {one, two}} {
		e := engine(reduce.Step{Stage: partialStage{failed}, Goal: policy.All})
		e.Keep = policy.Keep{Turns: 1, Pairs: 1}
		out, err := run(t, e, loop(4, 40), budget(10_000))
		if err != nil || len(out.Passes) != 1 {
			t.Fatal(err)
		}
		p := out.Passes[0]
		for _, want := range failed {
			if !errors.Is(p.Err, want) {
				t.Errorf("the pass reports %[2]v, want the errors %[1]v", failed, p.Err)
			}
		}
		if p.Applied != 1 || p.Discarded || len(failed) == 0 && p.Err != nil {
			t.Errorf("errors %v: %d groups were applied, discarded is %v, the pass reports %v", failed, p.Applied, p.Discarded, p.Err)
		}
	}
}

// If the provider accepts only the smallest view, the engine finds that view among any
// number of alternatives. Otherwise the call would be refused although a view exists.
func TestEngineTriesTheSmallestAlternative(t *testing.T) {
	for _, rounds := range []int{5, 66, 90} {
		var msgs []message.Message
		for i := range rounds {
			msgs = append(msgs, message.User(fmt.Sprintf("question %d", i)), message.Assistant(text(20)))
		}
		msgs = append(msgs, message.User("last"), message.Assistant("yes"))
		q := reduce.Request{Conversation: reduce.NewConversation(msgs, nil, nil), Budget: budget(1 << 20),
			Legal: func(view []message.Message, _ []int) error {
				if len(view) > 2 {
					return errors.New("too long")
				}
				return nil
			}}
		q.Budget.Target = policy.NewView(msgs, nil, words{}).Total() - 1
		out, err := engine(reduce.Step{Stage: policy.Drop{NoNotice: true}}).Run(t.Context(), q)
		if err != nil || out.Conversation.Len() != 2 {
			t.Errorf("%d rounds: %d messages are left, error %v; want 2 messages", rounds, out.Conversation.Len(), err)
		}
	}
}

// Squeeze divides the room among the results, even if many results can't be cut a little,
// because the marker would be longer than the removed text. With one more step, it would
// cut all results to nothing in order to save a few tokens of one.
func TestSqueezeUsesMostOfTheBudget(t *testing.T) {
	msgs := []message.Message{message.User("go")}
	for i := range 21 {
		id, result := fmt.Sprint("c", i), strings.TrimSpace(strings.Repeat("a ", 120))
		if i == 0 {
			result = text(1_000)
		}
		msgs = append(msgs, message.Assistant("", message.Call(id, "read", "{}")), message.ToolResult(id, result))
	}
	all := policy.NewView(msgs, nil, words{}).Total()
	for over := 900; over < 2_000; over += 50 {
		out, err := run(t, engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget}), msgs, budget(all-over))
		if err != nil {
			t.Fatal(err)
		}
		if unused := all - over - out.View.Total(); 4*unused > all-over {
			t.Errorf("%d tokens over: %d of %d tokens are unused, want at most a quarter of the budget", over, unused, all-over)
		}
	}
}

// A report gives the reason for the length of a result: the reason of the last cut.
func TestConversationRecordsTheReasonOfTheLastCut(t *testing.T) {
	e := engine(reduce.Step{Stage: policy.Truncate{MaxTokens: 200, NoShare: true}, Goal: policy.All}, reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget})
	out, err := run(t, e, loop(1, 500), budget(100))
	if err != nil || len(out.Passes) != 2 {
		t.Fatalf("error %v, outcome %+v; want 2 passes", err, out)
	}
	last := out.Passes[1].Recipe.Texts[0].Reason
	if d, reason := out.Conversation.Decision(3); d != policy.Truncated || reason != last || last == out.Passes[0].Recipe.Texts[0].Reason {
		t.Errorf("decision %s, reason %q; the reason of the last cut is %q", d, reason, last)
	}
}

// The reference in a placeholder has twelve hex digits. A text with another reference is
// not a placeholder, and can still be masked.
func TestParseMarkRejectsInvalidReferences(t *testing.T) {
	for _, c := range []struct {
		ref  string
		want bool
	}{{"3f9a2c1b70de", true}, {"3f9a2c1b70", false}, {"3f9a2c1b70de00", false}, {"3f9a2c1b70dg", false}, {"", false}} {
		for _, form := range []string{"[observation masked — 40 chars · recall %s]", "[observation masked — 40 chars · read \"a.go\" · recall %s]"} {
			if _, ok := (policy.Forms{}).ParseMark(fmt.Sprintf(form, c.ref)); ok != c.want {
				t.Errorf(form+": %v", c.ref, ok)
			}
		}
	}
}

// Drop removes an earlier summary together with the oldest rounds. In front of a gap, the
// summary would describe messages that nobody can look up.
func TestDropRemovesTheSummaryWithTheOldestRounds(t *testing.T) {
	msgs := []message.Message{message.System("s"), policy.NewSummary(1, text(40))}
	for range 3 {
		msgs = append(msgs, message.User(text(10)), message.Assistant(text(10)))
	}
	b := budget(1 << 20)
	b.Target = policy.NewView(msgs, pins, words{}).Total() - 20
	out, err := run(t, engine(reduce.Step{Stage: policy.Drop{}}), msgs, b)
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := out.Conversation.Decision(1); d != policy.Dropped || out.Conversation.Len() != len(msgs) {
		t.Errorf("the summary is %s, and %d of %d messages are left, want a dropped summary and fewer messages", d, out.Conversation.Len(), len(msgs))
	}
}

// A text in the open round that looks like a notice of an earlier drop is not treated
// as a notice: the round stays whole, and the number in the new notice does not include
// that text's number.
func TestDropCountsOnlyNoticesOfEarlierDrops(t *testing.T) {
	msgs := []message.Message{message.System("s"), policy.NewNotice(4)}
	for range 3 {
		msgs = append(msgs, message.User(text(30)), message.Assistant(text(30)))
	}
	msgs = append(msgs, message.User("go"), message.Assistant("", message.Call("c", "bash", "{}")), policy.NewNotice(7))
	v := policy.NewView(msgs, pins, words{})
	v.Budget = budget(1 << 20)
	p, err := policy.Drop{}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) == 0 {
		t.Fatalf("%d groups, error %v, want at least 1 group", len(p.Groups), err)
	}
	cut := p.Groups[0][0].Cut
	if n, ok := policy.ParseNotice(*cut.New); !slices.Equal(cut.Removed, []int{1, 2}) || !ok || n != 5 {
		t.Errorf("the notice says %d for messages %v, want 5 for [1 2]", n, cut.Removed)
	}
}

// Squeeze leaves a protected result as it is, and finds the room in the others.
func TestSqueezeCutsNoProtectedResult(t *testing.T) {
	msgs := loop(2, 300)
	msgs[3].Protected = true
	limit := policy.NewView(msgs, pins, words{}).Total() - 200
	out, err := run(t, engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget}), msgs, budget(limit))
	if err != nil {
		t.Fatal(err)
	}
	view := out.Conversation.Messages()
	if out.View.Total() > limit || !message.Identical(view[3], msgs[3]) || message.Identical(view[5], msgs[5]) {
		t.Errorf("a view of %d tokens of %d; the protected result is unchanged: %v", out.View.Total(), limit, message.Identical(view[3], msgs[3]))
	}
}

// The cuts of two results in one message count together, so that squeeze cuts no more than
// necessary.
func TestSqueezeCountsAllResultsOfAMessage(t *testing.T) {
	result := func(id string) message.Part {
		return message.Part{Kind: message.KindToolResult, CallID: id, Text: text(300)}
	}
	msgs := []message.Message{
		message.System("s"), message.User("go"), message.Assistant("", message.Call("a", "bash", "{}"), message.Call("b", "bash", "{}")),
		{Role: message.RoleTool, Parts: []message.Part{result("a"), result("b")}},
	}
	limit := policy.NewView(msgs, pins, words{}).Total() - 200
	out, err := run(t, engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget}), msgs, budget(limit))
	if err != nil {
		t.Fatal(err)
	}
	if got := out.View.Total(); got > limit || got < limit-10 {
		t.Errorf("a view of %d tokens for a budget of %d", got, limit)
	}
}

// The error advises fewer tool schemas only if the request has schemas.
func TestRefusalNamesToolSchemas(t *testing.T) {
	for fixed, want := range map[int]bool{0: false, 500: true} {
		q := reduce.Request{Conversation: reduce.NewConversation([]message.Message{message.User(text(90))}, pins, nil), Fixed: fixed, Budget: budget(50)}
		_, err := engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget}).Run(t.Context(), q)
		if err == nil || strings.Contains(err.Error(), "send fewer tool schemas") != want {
			t.Errorf("%d tokens of schemas: %v, want an error", fixed, err)
		}
	}
}

// A view that costs exactly a stage's goal is not reduced, and a view that costs one
// token more loses something.
func TestViewAtTheGoalStays(t *testing.T) {
	msgs := loop(6, 20)
	total := policy.NewView(msgs, pins, words{}).Total()
	for name, goal := range map[string]policy.Goal{"cap": policy.ToBudget, "target": policy.ToTarget} {
		for over := range 2 {
			b := policy.Budget{Max: total + 9, Cap: total + 9, Trigger: total + 9, Target: total - over}
			if goal == policy.ToBudget {
				b.Cap = total - over
			}
			out, err := run(t, engine(reduce.Step{Stage: policy.Drop{NoNotice: true}, Goal: goal}), msgs, b)
			if err != nil || out.Changed() != (over > 0) {
				t.Errorf("%d tokens above the %s: changed %v, %v", over, name, out.Changed(), err)
			}
		}
	}
}

// A view that fits only without a notice loses its rounds without a notice. It is not
// refused.
func TestDropLeavesOutANoticeWithoutRoom(t *testing.T) {
	msgs := []message.Message{message.System("s"), message.User(text(30)), message.Assistant(text(30)), message.User("go")}
	tokens := policy.NewView(msgs, pins, words{}).Tokens
	rest, notice := tokens[0]+tokens[3], words{}.Message(policy.NewNotice(2))
	for limit, want := range map[int]int{rest + notice: 3, rest + notice - 1: 2, rest: 2} {
		out, err := run(t, engine(reduce.Step{Stage: policy.Drop{}, Goal: policy.ToBudget}), msgs, budget(limit))
		if err != nil {
			t.Errorf("limit %d: %v", limit, err)
			continue
		}
		if n := out.Conversation.Len(); n != want || out.View.Total() > limit {
			t.Errorf("limit %d: %d messages of %d tokens are left, want %d messages", limit, n, out.View.Total(), want)
		}
	}
}

// Placeholders lose their references only if the view does not fit otherwise.
func TestSqueezeKeepsReferencesIfTheMarkersAreEnough(t *testing.T) {
	keep := policy.Keep{Turns: 1, Pairs: 1}
	masking := engine(reduce.Step{Stage: policy.Mask{WindowTurns: 1, Form: formname.Recall}, Goal: policy.All})
	masking.Keep = keep
	masked, err := run(t, masking, loop(4, 50), budget(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	rest := masked.View.Total() - len(strings.Fields(text(50))) + len(strings.Fields("[truncated: kept first ~0 of ~50 tokens (head)]"))
	for limit, want := range map[int]int{rest: 3, rest - 1: 0} {
		e := engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget})
		e.Keep = keep
		out, err := e.Run(t.Context(), reduce.Request{Conversation: masked.Conversation, Budget: budget(limit)})
		if err != nil {
			t.Fatal(err)
		}
		refs := 0
		for _, m := range out.Conversation.Messages() {
			refs += strings.Count(m.ResultText(), "recall ")
		}
		if refs != want || out.View.Total() > limit {
			t.Errorf("%d of 3 placeholders have a reference in a view of %d tokens of %d, want %d", refs, out.View.Total(), limit, want)
		}
	}
}

// A summary at the beginning does not count as a turn. Otherwise one turn less would
// stay.
func TestSummaryBeginsNoTurn(t *testing.T) {
	msgs := append([]message.Message{message.System("s"), policy.NewSummary(1, "what happened")}, loop(3, 5)[1:]...)
	v := policy.NewView(msgs, pins, words{})
	if len(v.Turns) != 3 || v.TurnOf(1) != 1 || v.TurnOf(len(msgs)-1) != 3 {
		t.Errorf("%d turns, the summary is in turn %d, the last result in turn %d, want 3 turns, the summary in turn 1 and the result in turn 3", len(v.Turns), v.TurnOf(1), v.TurnOf(len(msgs)-1))
	}
}
