package reduce_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

func TestEngineStopsWhenMaskingReachesTheTarget(t *testing.T) {
	e := engine(
		reduce.Step{Stage: policy.Truncate{MaxTokens: 8000}},
		reduce.Step{Stage: policy.Mask{WindowTurns: 10, KeepFirst: 2}},
		reduce.Step{Stage: cutAll{}},
	)
	out, err := run(t, e, loop(100, 20), budget(2500))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(out.Passes); n != 1 || out.Passes[0].Stage != "mask" {
		t.Fatalf("passes %+v, want masking alone", out.Passes)
	}
	if p := out.Passes[0]; p.After != out.View.Total() || p.After >= p.Before {
		t.Errorf("the pass states %d tokens before and %d after; the view has %d", p.Before, p.After, out.View.Total())
	}
	masked := 0
	for i := range out.Conversation.Inputs() {
		if d, _ := out.Conversation.Decision(i); d == policy.Masked {
			masked++
		}
	}
	if want := 100 - 10 - 2; masked != want {
		t.Errorf("masked %d observations, want %d: all but the first 2 and the results of the last 10 turns", masked, want)
	}
}

func TestEngineSummarizesIfMaskingIsNotEnough(t *testing.T) {
	e := engine(reduce.Step{Stage: policy.Mask{WindowTurns: 10, KeepFirst: 2}}, reduce.Step{Stage: cutAll{}})
	msgs := loop(100, 20)
	out, err := run(t, e, msgs, budget(1000))
	if err != nil {
		t.Fatal(err)
	}
	view := out.Conversation.Messages()
	// system, summary, anchor, six rounds of two messages
	if len(view) != 3+12 {
		t.Fatalf("%d messages, want 15", len(view))
	}
	if view[0].Role != message.RoleSystem || !policy.IsSummary(view[1]) || view[2].Text() != "do the task" {
		t.Errorf("order is %s, %s, %s; want system, summary, the last user message", view[0].Role, view[1].Text(), view[2].Text())
	}
}

func TestEngineKeepsPinnedRoundsBeforeTheSummary(t *testing.T) {
	e := engine(reduce.Step{Stage: cutAll{}})
	msgs := loop(100, 20)
	msgs[51].Protected = true // a result in mid-history
	out, err := run(t, e, msgs, budget(1000))
	if err != nil {
		t.Fatal(err)
	}
	view := out.Conversation.Messages()
	var kinds []string
	for _, m := range view[:5] {
		switch {
		case policy.IsSummary(m):
			kinds = append(kinds, "summary")
		default:
			kinds = append(kinds, string(m.Role))
		}
	}
	if got, want := strings.Join(kinds, " "), "system assistant tool summary user"; got != want {
		t.Errorf("view begins %q, want %q", got, want)
	}
	if view[2].ResultText() != msgs[51].ResultText() {
		t.Error("the protected result was changed")
	}
}

// faulty is a stage that proposes the given edits.
type faulty func(v *policy.View) []policy.Edit

func (faulty) Name() string { return "faulty" }

func (f faulty) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	return policy.Proposal{Groups: [][]policy.Edit{f(v)}}, nil
}

func remove(at ...int) []policy.Edit {
	return []policy.Edit{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: at, Recent: at[0]}}}
}

func rewrite(i int, lit string) []policy.Edit {
	return []policy.Edit{{Decision: policy.Truncated, Text: &policy.TextEdit{Index: i, Segments: []policy.Segment{{Lit: lit}}}}}
}

func TestEngineDiscardsEditsThatBreakAPromise(t *testing.T) {
	msgs := loop(20, 30)
	msgs = append(msgs, message.User("and now?"), message.Assistant("", message.Call("open", "bash", "{}")))
	last := len(msgs) - 1
	summary := policy.NewSummary(1, "s")
	for name, f := range map[string]faulty{
		"splits a round":                      func(*policy.View) []policy.Edit { return remove(3) },
		"drops a pinned message":              func(*policy.View) []policy.Edit { return remove(0) },
		"drops the anchor":                    func(*policy.View) []policy.Edit { return remove(last - 1) },
		"drops the open round":                func(*policy.View) []policy.Edit { return remove(last) },
		"edits a pinned message":              func(*policy.View) []policy.Edit { return rewrite(0, "x") },
		"edits the anchor":                    func(*policy.View) []policy.Edit { return rewrite(last-1, "x") },
		"makes a message larger":              func(*policy.View) []policy.Edit { return rewrite(3, text(31)) },
		"makes a message longer":              func(*policy.View) []policy.Edit { return rewrite(3, strings.Repeat("w", 1000)) },
		"empties a message":                   func(*policy.View) []policy.Edit { return rewrite(3, "") },
		"edits a message that does not exist": func(*policy.View) []policy.Edit { return rewrite(len(msgs), "x") },
		"removes a message twice":             func(*policy.View) []policy.Edit { return remove(2, 3, 3) },
		"puts a summary after the anchor": func(*policy.View) []policy.Edit {
			return []policy.Edit{{Decision: policy.Summarized, Cut: &policy.Cut{Removed: []int{2, 3}, Recent: 0, New: &summary}},
				{Decision: policy.Summarized, Cut: &policy.Cut{Removed: []int{4, 5}, Recent: 0, New: &summary}}}
		},
		"removes messages with the decision masked": func(*policy.View) []policy.Edit {
			return []policy.Edit{{Decision: policy.Masked, Cut: &policy.Cut{Removed: []int{2, 3}, Recent: 2}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := engine(reduce.Step{Stage: f, Goal: policy.All}, reduce.Step{Stage: policy.Mask{WindowTurns: 2}})
			out, err := run(t, e, msgs, budget(500))
			var over *policy.BudgetError
			if err != nil && !errors.As(err, &over) {
				t.Fatal(err)
			}
			if len(out.Passes) == 0 || !out.Passes[0].Discarded || out.Passes[0].Err == nil {
				t.Fatalf("the edits were not discarded: %+v", out.Passes)
			}
			if len(out.Passes) != 2 || out.Passes[1].Applied != 1 {
				t.Errorf("the next stage did not run: %+v", out.Passes)
			}
		})
	}
}

func TestEngineDiscardsASummaryBehindTheAnchor(t *testing.T) {
	msgs := []message.Message{message.System("be good"), message.User("do the task"), message.Assistant(text(30))}
	summary := policy.NewSummary(1, "s")
	out, err := run(t, engine(reduce.Step{Stage: faulty(func(*policy.View) []policy.Edit { return rewrite(2, summary.Text()) }), Goal: policy.All}), msgs, budget(500))
	if err != nil || len(out.Passes) != 1 || !out.Passes[0].Discarded {
		t.Errorf("%v, %+v", err, out.Passes)
	}
}

func TestEngineDiscardsAMaskInTheOpenRound(t *testing.T) {
	msgs := append(loop(2, 30), message.Assistant("", message.Call("x", "bash", "{}"), message.Call("y", "bash", "{}")), message.ToolResult("x", text(30)))
	mask := faulty(func(*policy.View) []policy.Edit {
		edits := rewrite(len(msgs)-1, "masked")
		edits[0].Decision = policy.Masked
		return edits
	})
	out, err := run(t, engine(reduce.Step{Stage: mask, Goal: policy.All}), msgs, budget(500))
	if err != nil || len(out.Passes) != 1 || !out.Passes[0].Discarded {
		t.Errorf("%v, %+v", err, out.Passes)
	}
}

// Each turn is one pair here. With three turns kept, three pairs cost nothing.
func TestShrinkRevertsDecrementsThatFreeNothing(t *testing.T) {
	v := policy.NewView(loop(20, 26), pins, words{}) // 9 tokens, and 32 a round
	v.Keep, v.Budget = policy.Keep{Turns: 6, Pairs: 4}, budget(9+3*32)
	if got, want := v.Shrink(0), (policy.Keep{Turns: 3, Pairs: 3}); got != want {
		t.Errorf("keeps %+v, want %+v", got, want)
	}
}

func TestEngineReportsInsufficientBudgetBeforeAnyStage(t *testing.T) {
	msgs := loop(20, 30)
	msgs[0] = message.System(text(400))
	asked := false
	e := engine(reduce.Step{Stage: faulty(func(*policy.View) []policy.Edit { asked = true; return remove(2, 3) })})
	e.Floors = true
	_, err := run(t, e, msgs, budget(300))
	var b *policy.BudgetError
	if !errors.As(err, &b) || !errors.Is(err, policy.ErrInsufficientBudget) {
		t.Fatalf("got %v, want a BudgetError", err)
	}
	if asked {
		t.Error("the engine called a stage although the floor is above the budget")
	}
	if len(b.Largest) == 0 || b.Largest[0].Index != 0 || b.Largest[0].Why != "pinned" || b.Largest[0].Tokens != 402 {
		t.Errorf("largest contributor is %+v, want the system prompt", b.Largest)
	}
}

func TestSqueezeDividesTheRoomAmongTheNewestResults(t *testing.T) {
	msgs := []message.Message{message.System("be good"), message.User("read all")}
	var calls []message.Part
	for i := range 20 {
		calls = append(calls, message.Call(string(rune('a'+i)), "read", "{}"))
	}
	msgs = append(msgs, message.Assistant("", calls...))
	for i := range 20 {
		msgs = append(msgs, message.ToolResult(string(rune('a'+i)), text(700)))
	}
	e := engine(reduce.Step{Stage: cutAll{}}, reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget})
	e.Floors = true
	out, err := run(t, e, msgs, budget(10_000))
	if err != nil {
		t.Fatal(err)
	}
	if total := out.View.Total(); total > 10_000 || total < 9_000 {
		t.Errorf("the view costs %d tokens, want about 10,000, the room in the budget", total)
	}
	for i := 3; i < len(msgs); i++ {
		if n := out.View.Tokens[i]; n < 450 || n > 500 {
			t.Errorf("result %d has %d tokens, want an equal share", i-3, n)
		}
	}
}

func TestSqueezeKeepsPinnedResults(t *testing.T) {
	msgs := []message.Message{
		message.System("be good"), message.User("read both"), message.Assistant("", message.Call("a", "read", "{}"), message.Call("b", "read", "{}")),
		message.ToolResult("a", text(700)), message.ToolResult("b", text(700)),
	}
	msgs[3].Protected = true
	out, err := run(t, engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget}), msgs, budget(1000))
	if err != nil {
		t.Fatal(err)
	}
	if out.View.Tokens[3] != 702 || out.View.Total() > 1000 || out.View.Total() < 900 {
		t.Errorf("the pinned result has %d tokens of 702, the view %d of 1,000", out.View.Tokens[3], out.View.Total())
	}
}

func TestMaskAndTruncateAreIdempotent(t *testing.T) {
	msgs := loop(30, 40)
	msgs[3] = message.ToolResult("call_0", text(5000))
	steps := []reduce.Step{
		{Stage: policy.Truncate{MaxTokens: 300}, Goal: policy.All},
		{Stage: policy.Mask{WindowTurns: 6, KeepFirst: 1}, Goal: policy.All},
	}
	once, err := run(t, engine(steps...), msgs, budget(100_000))
	if err != nil {
		t.Fatal(err)
	}
	if !once.Changed() {
		t.Fatal("nothing was masked")
	}
	twice, err := run(t, engine(steps...), once.Conversation.Messages(), budget(100_000))
	if err != nil {
		t.Fatal(err)
	}
	if twice.Changed() {
		t.Errorf("the second run changed the view: %+v", twice.Passes)
	}
}

func TestMaskInBatchesMovesTheWindowEveryFewTurns(t *testing.T) {
	masked := func(rounds int) int {
		out, err := run(t, engine(reduce.Step{Stage: policy.Mask{WindowTurns: 6, Every: 5}, When: policy.Always}), loop(rounds, 30), budget(100_000))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for i := range out.Conversation.Inputs() {
			if d, _ := out.Conversation.Decision(i); d == policy.Masked {
				n++
			}
		}
		return n
	}
	for rounds, want := range map[int]int{6: 0, 10: 0, 11: 5, 12: 5, 15: 5, 16: 10} {
		if got := masked(rounds); got != want {
			t.Errorf("%d turns: %d masked, want %d", rounds, got, want)
		}
	}
}

// If a result of a pinned round arrives late, a notice after the round becomes part of it.
// The engine still accepts edits.
func TestEngineAcceptsALateResultAfterANotice(t *testing.T) {
	msgs := loop(4, 30)
	answered := message.ToolResult("x", "pinned")
	answered.Protected = true
	msgs = append(msgs, message.Assistant("", message.Call("x", "bash", "{}"), message.Call("y", "bash", "{}")), answered)
	msgs = append(msgs, message.User(text(30)), message.Assistant("well"), message.User("and on"))
	drop := engine(reduce.Step{Stage: policy.Drop{}, Goal: policy.ToBudget})
	first, err := run(t, drop, msgs, budget(40))
	if err != nil {
		t.Fatal(err)
	}
	late := first.Conversation.Append([]message.Message{message.ToolResult("y", text(200))})
	if _, notice := policy.ParseNotice(late.Messages()[3]); !notice || late.Len() != 7 {
		t.Fatalf("the notice does not follow the pinned round: %v", late.Messages())
	}
	squeeze := engine(reduce.Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget})
	out, err := squeeze.Run(context.Background(), reduce.Request{Conversation: late, Budget: budget(80)})
	if err != nil || len(out.Passes) != 1 || out.Passes[0].Err != nil {
		t.Fatalf("%v, %+v", err, out.Passes)
	}
}

func TestEngineContinuesAfterAStagePanics(t *testing.T) {
	e := engine(
		reduce.Step{Stage: faulty(func(*policy.View) []policy.Edit { panic("a bug") }), Goal: policy.All},
		reduce.Step{Stage: policy.Mask{WindowTurns: 2}},
	)
	out, err := run(t, e, loop(20, 30), budget(500))
	var over *policy.BudgetError
	if err != nil && !errors.As(err, &over) {
		t.Fatal(err)
	}
	if len(out.Passes) != 2 || out.Passes[0].Err == nil || !strings.Contains(out.Passes[0].Err.Error(), "a bug") || out.Passes[1].Applied != 1 {
		t.Errorf("passes %+v", out.Passes)
	}
}
