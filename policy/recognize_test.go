package policy_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// An agent that keeps the view sends a cut result again. Another process learns from the
// ledger that the result was cut but not masked, and its original size. It can still mask
// the result, and the placeholder then states the original size.
func TestMaskReplacesAResultThatAnotherProcessCut(t *testing.T) {
	for name, c := range map[string]struct {
		stage  policy.Stage
		masked bool
	}{
		"cut":    {policy.Truncate{MaxTokens: 100}, false},
		"masked": {policy.Mask{WindowTurns: 1}, true},
	} {
		msgs := append(loop(3, 10), message.User("go on"), message.Assistant("done"))
		msgs[3] = message.ToolResult("call_0", text(300))
		e := engine(reduce.Step{Stage: c.stage, Goal: policy.All})
		e.Keep = policy.Keep{Turns: 1, Pairs: 1}
		out, err := run(t, e, msgs, budget(10_000))
		if err != nil || len(out.Passes) != 1 || len(out.Passes[0].Recipe.Texts) == 0 {
			t.Fatal(err)
		}
		known := map[message.Fingerprint]map[int]policy.Origin{}
		for _, r := range out.Passes[0].Recipe.Texts {
			if o, ok := r.OriginOf(); ok {
				known[r.Is] = map[int]policy.Origin{r.Part: o}
			}
		}
		conv := reduce.NewConversation(out.Conversation.Messages(), pins, nil)
		conv.Recognize(0, func(fp message.Fingerprint) map[int]policy.Origin { return known[fp] })
		if v := e.View(conv, reduce.Request{Conversation: conv}); v.Masked(3, 0) != c.masked || v.OriginTokens(3, 0) != 300 && !c.masked {
			t.Errorf("%s: masked is %v, original tokens are %d", name, v.Masked(3, 0), v.OriginTokens(3, 0))
		}
		e.Steps = []reduce.Step{{Stage: policy.Mask{WindowTurns: 1, Form: policy.FormResult}, Goal: policy.All}}
		again, err := e.Run(t.Context(), reduce.Request{Conversation: conv, Budget: budget(10_000)})
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Conversation.Messages()[3].ResultText(); !c.masked && !strings.HasPrefix(got, "[result masked — ~30") {
			t.Errorf("%s: the masked result is %.80q", name, got)
		}
	}
}
