package reduce_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A trail passes the input index of each message of the view to the check, including
// messages that no step has reached. With wrong indexes, the check would compare the view
// with the violations of other messages.
func TestTrailPassesTheSourcesOfMessages(t *testing.T) {
	history := loop(12, 30)
	e := engine(reduce.Step{Stage: cutAll{}, Goal: policy.All})
	e.Keep = policy.Keep{Turns: 2, Pairs: 1}
	conv := reduce.NewConversation(history[:14], pins, nil)
	out, err := e.Run(t.Context(), reduce.Request{Conversation: conv, Budget: budget(1 << 20), Manual: true})
	if err != nil || !out.Changed() {
		t.Fatal(err)
	}
	s := reduce.TrailStep{Recipes: []reduce.Recipe{out.Passes[0].Recipe}}
	in, n := reduce.Coverage(s.Recipes)
	s.In, s.Out = conv.Chain().At(conv, in), out.Conversation.Chain().At(out.Conversation, n)
	tr, asked := reduce.NewTrail(history, pins, nil, nil), 0
	_, err = tr.Make(s, func(view []message.Message, sources []int) error {
		asked++
		for k, src := range sources {
			if src >= 0 && (src >= len(history) || !message.Identical(view[k], history[src])) {
				t.Errorf("the source of message %d is %d", k, src)
			}
		}
		if want := append(out.Conversation.Sources(), 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25); !slices.Equal(sources, want) {
			t.Errorf("sources are %v, want %v", sources, want)
		}
		return nil
	})
	if err != nil || asked != 1 {
		t.Fatalf("the check was called %d times, %v", asked, err)
	}
}

// A refused step changes nothing, even if it truncates, masks and removes the same
// messages: the history stays unchanged.
func TestTrailRevertsSeveralEditsOfOneMessage(t *testing.T) {
	history := loop(12, 60)
	e := engine(
		reduce.Step{Stage: policy.Truncate{MaxTokens: 40}, Goal: policy.All},
		reduce.Step{Stage: policy.Mask{WindowTurns: 2}, Goal: policy.All},
		reduce.Step{Stage: cutAll{}, Goal: policy.All},
	)
	e.Keep = policy.Keep{Turns: 1, Pairs: 1}
	conv := reduce.NewConversation(history, pins, nil)
	out, err := e.Run(t.Context(), reduce.Request{Conversation: conv, Budget: budget(1 << 20)})
	if err != nil || len(out.Passes) != 3 {
		t.Fatal(err)
	}
	s := stepOf(t, conv, out)
	for name, refuse := range map[string]func(s *reduce.TrailStep) func([]message.Message, []int) error{
		"by the provider": func(*reduce.TrailStep) func([]message.Message, []int) error {
			return func([]message.Message, []int) error { return policy.ErrEdit }
		},
		"by the outcome": func(s *reduce.TrailStep) func([]message.Message, []int) error {
			s.Out.Hash[0]++
			return nil
		},
	} {
		wrong := s
		legal := refuse(&wrong)
		tr := reduce.NewTrail(history, pins, nil, nil)
		if _, err := tr.Make(wrong, legal); err == nil {
			t.Fatalf("%s: the step was not refused", name)
		}
		if !tr.Has(s.In) {
			t.Errorf("%s: the history does not begin with the prefix of the step", name)
		}
		got, _ := tr.End()
		if !slices.EqualFunc(got.Messages(), history, message.Identical) {
			t.Errorf("%s: the %d messages differ from the %d messages of the history", name, got.Len(), len(history))
		}
		for i := range history {
			if d, _ := got.Decision(i); d != policy.Kept {
				t.Errorf("%s: message %d is %s", name, i, d)
			}
		}
	}
}

// retext is a stage of a caller that replaces the text of one message.
type retext struct{ at int }

func (retext) Name() string { return "retext" }

func (s retext) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Truncated,
		Text: &policy.TextEdit{Index: s.at, Segments: []policy.Segment{{Lit: "Be brief."}}}}}}}, nil
}

// If a stage of a caller rewrites a notice, the notice becomes a pinned instruction. A
// ledger counts only unpinned messages, so the next call could not repeat the step.
// The engine therefore discards the edit, for notices of earlier calls and of this call.
func TestEngineDiscardsEditsThatTurnANoticeIntoAnInstruction(t *testing.T) {
	history := slices.Insert(loop(6, 40), 2, policy.NewNotice(3))
	for name, steps := range map[string][]reduce.Step{
		"of an earlier call": {{Stage: retext{2}, Goal: policy.All}, {Stage: policy.Mask{WindowTurns: 1}, Goal: policy.All}},
		"of this call":       {{Stage: policy.Drop{}, Goal: policy.ToTarget}, {Stage: retext{1}, Goal: policy.All}, {Stage: policy.Mask{WindowTurns: 1}, Goal: policy.All}},
	} {
		e := engine(steps...)
		e.Keep = policy.Keep{Turns: 1, Pairs: 1}
		conv, b := reduce.NewConversation(history, pins, nil), budget(1<<20)
		b.Target = 250
		out, err := e.Run(t.Context(), reduce.Request{Conversation: conv, Budget: b})
		if err != nil || len(out.Passes) != len(steps) {
			t.Fatalf("%s: %v, %+v", name, err, out.Passes)
		}
		for _, p := range out.Passes {
			var broken *reduce.BrokenError
			if own := p.Stage == "retext"; own != errors.As(p.Err, &broken) || own != p.Discarded || own != (p.Applied == 0) {
				t.Errorf("%s: stage %s: %v, %d groups applied", name, p.Stage, p.Err, p.Applied)
			}
		}
		got, _ := trail(t, history, []reduce.TrailStep{stepOf(t, conv, out)})
		sameConversation(t, 0, got, out.Conversation)
	}
}

// A ledger of an older version may hold such an edit. Later edits of the same step then do
// not count the message that became an instruction.
func TestTrailExcludesANoticeThatBecameAnInstruction(t *testing.T) {
	history := slices.Insert(loop(6, 40), 2, policy.NewNotice(3))
	conv := reduce.NewConversation(history, pins, nil)
	first, _ := retext{2}.Propose(t.Context(), nil)
	between, err := conv.Apply(first.Groups[0])
	if err != nil {
		t.Fatal(err)
	}
	second, err := policy.Mask{WindowTurns: 1}.Propose(t.Context(), policy.NewView(between.Messages(), pins, words{}))
	if err != nil {
		t.Fatal(err)
	}
	after, err := between.Apply(second.Groups[0])
	if err != nil {
		t.Fatal(err)
	}
	step := reduce.TrailStep{
		In: conv.Chain().At(conv, conv.Unpinned()), Out: after.Chain().At(after, after.Unpinned()),
		Recipes: []reduce.Recipe{conv.Record("retext", first.Groups[0], between), between.Record("mask", second.Groups[0], after)},
	}
	got, _ := trail(t, history, []reduce.TrailStep{step})
	sameConversation(t, 0, got, after)
}

// An agent that returns to a question sends it again as the last user message. The trail
// does not repeat a step that dropped the question, because the model would get no
// question.
func TestTrailKeepsAQuestionThatIsTheLastAgain(t *testing.T) {
	history := []message.Message{message.System("s")}
	for range 4 {
		history = append(history, message.User(text(20)), message.Assistant(text(20)))
	}
	history = append(history, message.User("last"))
	conv, b := reduce.NewConversation(history, pins, nil), budget(1<<20)
	b.Target = policy.NewView(history, pins, words{}).Total() - 30
	out, err := engine(reduce.Step{Stage: policy.Drop{NoNotice: true}}).Run(t.Context(), reduce.Request{Conversation: conv, Budget: b})
	if err != nil || !slices.Equal(out.Conversation.Sources(), []int{0, 3, 4, 5, 6, 7, 8, 9}) {
		t.Fatalf("%v, %v", err, out.Conversation.Sources())
	}
	step, back := stepOf(t, conv, out), append(slices.Clone(history[:3]), message.Assistant("Another answer."))
	for name, c := range map[string]struct {
		history []message.Message
		want    error
	}{
		"the whole history":                          {history, nil},
		"back at the first question":                 {back, reduce.ErrReplay},
		"back at the question that begins a history": {back[1:], reduce.ErrReplay}, // links cover no system message
	} {
		tr := reduce.NewTrail(c.history, pins, nil, nil)
		if !tr.Has(step.In) {
			t.Fatalf("%s: the history does not begin with the prefix of the step", name)
		}
		if _, err := tr.Make(step, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if got, _ := tr.End(); c.want != nil && !slices.EqualFunc(got.Messages(), c.history, message.Identical) {
			t.Errorf("%s: %d messages of %d are left", name, got.Len(), len(c.history))
		}
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
