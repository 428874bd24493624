package policy_test

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// The check of a repeated step is told which input message each message of the view came
// from, also for those that no step has reached yet. With others it would compare the view
// with the violations of other messages.
func TestTrailTellsWhereTheMessagesOfAViewCameFrom(t *testing.T) {
	history := loop(12, 30)
	e := engine(policy.Step{Stage: cutAll{}, Goal: policy.All})
	e.Keep = policy.Keep{Turns: 2, Pairs: 1}
	conv := policy.NewConversation(history[:14], pins, nil)
	out, err := e.Run(t.Context(), policy.Request{Conversation: conv, Budget: budget(1 << 20), Manual: true})
	if err != nil || !out.Changed() {
		t.Fatal(err)
	}
	s := policy.TrailStep{Recipes: []policy.Recipe{out.Passes[0].Recipe}}
	in, n := policy.Coverage(s.Recipes)
	s.In, s.Out = conv.Chain().At(conv, in), out.Conversation.Chain().At(out.Conversation, n)
	tr, asked := policy.NewTrail(history, pins, nil, nil), 0
	_, err = tr.Make(s, func(view []message.Message, sources []int) error {
		asked++
		for k, src := range sources {
			if src >= 0 && (src >= len(history) || !message.Identical(view[k], history[src])) {
				t.Errorf("message %d of the view is said to come from %d", k, src)
			}
		}
		if want := append(out.Conversation.Sources(), 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25); !slices.Equal(sources, want) {
			t.Errorf("from %v, want %v", sources, want)
		}
		return nil
	})
	if err != nil || asked != 1 {
		t.Fatalf("asked %d times, %v", asked, err)
	}
}
