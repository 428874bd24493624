package reduce_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// steps compacts a growing history. It returns the history, the record of each compaction
// in the ledger, and the last view.
//
// If protects is not 0, each message is protected with the chance 1/protects, and the last
// user message always is.
func steps(t *testing.T, seed uint64, protects int) (history []message.Message, made []reduce.TrailStep, last *reduce.Conversation) {
	t.Helper()
	rng := histgen.Rand(seed)
	e := engine(
		reduce.Step{Stage: policy.Mask{WindowTurns: 2}, When: policy.Always},
		reduce.Step{Stage: cutAll{}},
	)
	e.Keep = policy.Keep{Turns: 1, Pairs: 1}
	history = protected(histgen.New(seed), 0, rng, protects)
	for call := range 6 {
		conv, chain := trail(t, history, made)
		q := reduce.Request{Conversation: conv, Budget: budget(1 << 30), Manual: call%3 == 2}
		if !q.Manual {
			q.Only = policy.Always
		}
		out, err := e.Run(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		last = out.Conversation
		if out.Changed() {
			var s reduce.TrailStep
			for _, p := range out.Passes {
				if p.Applied > 0 {
					s.Recipes = append(s.Recipes, p.Recipe)
				}
			}
			in, n := reduce.Coverage(s.Recipes)
			s.In, s.Out = chain.At(conv, in), out.Conversation.Chain().At(out.Conversation, n)
			made = append(made, s)
		}
		if call < 5 {
			n := len(history)
			history = protected(histgen.Grow(history, rng), n, rng, protects)
		}
	}
	return history, made, last
}

// protected protects some of the messages from an index on: each with the chance 1/one, and
// the last user message always.
func protected(msgs []message.Message, from int, rng *rand.Rand, one int) []message.Message {
	if one == 0 {
		return msgs
	}
	for i := from; i < len(msgs); i++ {
		msgs[i].Protected = rng.IntN(one) == 0
	}
	if a := message.Anchor(msgs); a >= from {
		msgs[a].Protected = true
	}
	return msgs
}

// trail repeats all steps on a history.
func trail(t *testing.T, history []message.Message, made []reduce.TrailStep) (*reduce.Conversation, *reduce.Chain) {
	t.Helper()
	tr := reduce.NewTrail(history, pins, nil, nil)
	for i, s := range made {
		if !tr.Has(s.In) {
			t.Fatalf("step %d is not found", i+1)
		}
		if _, err := tr.Make(s, nil); err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
	}
	return tr.End()
}

func TestTrailRepeatsTheRecordedEdits(t *testing.T) {
	all := 0
	for seed := range uint64(150) {
		history, made, want := steps(t, seed, int(seed%3)*4)
		got, chain := trail(t, history, made)
		all += len(made)
		sameConversation(t, seed, got, want)
		if whole := got.Chain(); chain.At(got, got.Len()) != whole.At(got, got.Len()) {
			t.Fatalf("seed %d: the chain of the trail differs from the chain of the conversation", seed)
		}
	}
	if all < 300 {
		t.Fatalf("only %d steps were made", all)
	}
}

// If the last user message is protected, it keeps its place and protected rounds stay after
// it, also with later messages. The links cover no pinned messages, so no other check would
// find a wrong order.
func TestTrailKeepsThePlaceOfAProtectedAnchor(t *testing.T) {
	for text, user := range map[string]int{"": 1, "the second one": 9, "do the task": 9} { // the user may repeat a message
		history := loop(12, 20)
		if text != "" {
			history = slices.Insert(history, user-1, message.Assistant("Which one?"), message.User(text))
		}
		for _, i := range []int{user, user + 5, user + 6} {
			history[i].Protected = true
		}
		e := engine(reduce.Step{Stage: cutAll{}, Goal: policy.All})
		e.Keep = policy.Keep{Turns: 1, Pairs: 1}
		conv := reduce.NewConversation(history, pins, nil)
		out, err := e.Run(t.Context(), reduce.Request{Conversation: conv, Budget: budget(1 << 30), Manual: true})
		if err != nil || !out.Changed() {
			t.Fatal(err)
		}
		s := reduce.TrailStep{Recipes: []reduce.Recipe{out.Passes[0].Recipe}}
		in, n := reduce.Coverage(s.Recipes)
		s.In, s.Out = conv.Chain().At(conv, in), out.Conversation.Chain().At(out.Conversation, n)
		next := message.User("And the third one?")
		next.Protected = true
		for _, later := range [][]message.Message{{message.Assistant("Done."), next, message.Assistant("I look.")}, {next, message.Assistant("I look.")}} {
			got, _ := trail(t, append(slices.Clone(history), later...), []reduce.TrailStep{s})
			want := append(out.Conversation.Messages(), later...)
			if !slices.EqualFunc(got.Messages(), want, message.Identical) {
				t.Errorf("user message %d, %q: order %v, want %v", user, text, got.Sources(), out.Conversation.Sources())
			}
		}
	}
}

func sameConversation(t *testing.T, seed uint64, got, want *reduce.Conversation) {
	t.Helper()
	if !slices.EqualFunc(got.Messages(), want.Messages(), message.Identical) || !slices.Equal(got.Sources(), want.Sources()) {
		t.Fatalf("seed %d: the view differs", seed)
	}
	for i := range got.Inputs() {
		d, why := got.Decision(i)
		if e, because := want.Decision(i); d != e || why != because {
			t.Fatalf("seed %d: message %d is %s (%s), want %s (%s)", seed, i, d, why, e, because)
		}
	}
}

// A trail recognizes a step by the prefix that its recipes refer to. With a wrong length, a
// history that holds the whole prefix would be compacted again, or the output of the step
// would not be compared.
func TestCoverageReturnsThePrefixOfTheRecipes(t *testing.T) {
	text := func(at ...int) (r reduce.Recipe) {
		for _, i := range at {
			r.Texts = append(r.Texts, reduce.TextRecipe{At: i})
		}
		return r
	}
	cut := func(c reduce.CutRecipe) reduce.Recipe {
		c.Removed, c.Recent = [][2]int{{1, 3}, {4, 6}}, 7
		return reduce.Recipe{Cut: &c}
	}
	summary, notice := reduce.CutRecipe{Summary: &policy.SummaryInfo{}}, reduce.CutRecipe{Notice: 4}
	for _, c := range []struct {
		name    string
		recipes []reduce.Recipe
		in, out int
	}{
		{"nothing", nil, 0, 0},
		{"the last text", []reduce.Recipe{text(4, 2)}, 5, 5},
		{"a cut with a summary", []reduce.Recipe{cut(summary)}, 7, 4},
		{"a cut with a notice", []reduce.Recipe{cut(notice)}, 7, 4},
		{"a cut with neither", []reduce.Recipe{cut(reduce.CutRecipe{})}, 7, 3},
		{"a cut whose recent span is the whole", []reduce.Recipe{{Cut: &reduce.CutRecipe{Removed: [][2]int{{1, 3}}, Notice: 2}}}, 3, 2},
		{"a text before a cut", []reduce.Recipe{text(9), cut(notice)}, 10, 7},
		{"a text behind a cut with a summary", []reduce.Recipe{cut(summary), text(5)}, 9, 6},
		{"a text behind a cut with a notice", []reduce.Recipe{cut(notice), text(5)}, 9, 6},
		{"a text behind a cut with neither", []reduce.Recipe{cut(reduce.CutRecipe{}), text(5)}, 10, 6},
		{"a text that the cut covers", []reduce.Recipe{cut(notice), text(3)}, 7, 4},
		{"a copy and the one that stays", []reduce.Recipe{{Copies: []reduce.CopyRecipe{{At: 3, Stay: 8}}}}, 8, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			if in, out := reduce.Coverage(c.recipes); in != c.in || out != c.out {
				t.Errorf("coverage is %d messages before and %d after, want %d and %d", in, out, c.in, c.out)
			}
		})
	}
}

// A step with another outcome is reverted completely: the next step finds the
// conversation and its chain unchanged.
func TestTrailRevertsStepsWithAnotherOutcome(t *testing.T) {
	refused := 0
	for seed := range uint64(150) {
		history, made, want := steps(t, seed, 0)
		tr := reduce.NewTrail(history, pins, nil, nil)
		for i, s := range made {
			wrong := s
			wrong.Out.Hash[0]++
			wrong.Forms = policy.Forms{"custom@1": "[gone: {chars}]"}
			if n, err := tr.Make(wrong, nil); s.Out.N > 0 && !errors.Is(err, reduce.ErrReplay) {
				t.Fatalf("seed %d: %d edits, %v", seed, n, err)
			} else if err == nil {
				continue
			}
			refused++
			illegal := errors.New("no")
			if _, err := tr.Make(s, func([]message.Message, []int) error { return illegal }); !errors.Is(err, illegal) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !tr.Has(s.In) {
				t.Fatalf("seed %d: the trail does not find step %d after the refusal", seed, i+1)
			}
			if _, err := tr.Make(s, nil); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		got, _ := tr.End()
		sameConversation(t, seed, got, want)
		if _, err := engine().View(got, reduce.Request{Conversation: got}).Forms.Template("custom@1"); err == nil {
			t.Fatalf("seed %d: the conversation has the forms of a step that was reverted", seed)
		}
	}
	if refused < 300 {
		t.Fatalf("only %d steps were refused", refused)
	}
}

// A view that grows equals the view of the whole conversation, even after edits of the
// engine in between.
func TestGrownViewEqualsTheViewOfTheWhole(t *testing.T) {
	for seed := range uint64(300) {
		rng := histgen.Rand(seed)
		history := histgen.New(seed)
		e := engine()
		n := rng.IntN(len(history) + 1)
		conv := reduce.NewConversation(history[:n], pins, nil)
		view := e.View(conv, reduce.Request{Conversation: conv})
		for n < len(history) {
			m := n + 1 + rng.IntN(len(history)-n)
			conv = conv.Append(history[n:m])
			view, n = e.Grow(view, conv, reduce.Request{Conversation: conv, Costs: []int{words{}.Message(history[0])}}), m
		}
		want := policy.NewView(history, pins, words{})
		if !slices.EqualFunc(view.Messages, want.Messages, message.Identical) {
			t.Fatalf("seed %d: the messages differ", seed)
		}
		for _, x := range []struct{ got, want any }{
			{view.Tokens, want.Tokens}, {view.Rounds, want.Rounds}, {view.Turns, want.Turns}, {view.Pinned, want.Pinned},
			{[]int{view.Anchor, view.Open}, []int{want.Anchor, want.Open}},
		} {
			if reflect.ValueOf(x.want).Len() > 0 && !reflect.DeepEqual(x.got, x.want) {
				t.Fatalf("seed %d: %v, want %v", seed, x.got, x.want)
			}
		}
		for i := range history {
			if view.TurnOf(i) != want.TurnOf(i) || view.RoundOf(i) != want.RoundOf(i) {
				t.Fatalf("seed %d: message %d belongs to another round", seed, i)
			}
		}
	}
}
