package policy_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// The stages, with settings and budgets drawn at random, do to generated histories what is
// recorded: alone, and in the order of an engine. Each second call continues with a longer
// history.
func TestStagesWorkAsRecorded(t *testing.T) {
	book := behavior.New(t, "testdata/stages.txt")
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		e := engine(stepsFor(rng)...)
		e.Keep = policy.Keep{Turns: rng.IntN(8), Pairs: rng.IntN(5)}
		history := append(histgen.New(seed), loop(rng.IntN(12), 1+rng.IntN(400))...)
		c := reduce.NewConversation(history, e.Pins, nil)
		size := e.View(c, reduce.Request{Conversation: c}).Total()
		for call := range 2 {
			limit := 1 + size*(1+rng.IntN(24))/20
			q := reduce.Request{Conversation: c, Budget: budget(limit), Fixed: rng.IntN(2) * size / 10, Recall: rng.IntN(2) == 0, Manual: rng.IntN(4) == 0}
			out, err := e.Run(t.Context(), q)
			book.Line("%d.%d: %d of %d: %s", seed, call, size, limit, outcomeOf(t, book, out, err))
			if err != nil {
				break
			}
			history = histgen.Grow(history, rng)
			c = reduce.NewConversation(append(out.Conversation.Messages(), history[len(history)-1]), e.Pins, nil)
		}
	}
	book.Check()
}

// stepsFor returns one to four steps.
func stepsFor(rng *rand.Rand) (steps []reduce.Step) {
	keep := func() string { return []string{"", "head", "tail", "both", "auto"}[rng.IntN(5)] }
	for range 1 + rng.IntN(4) {
		stages := []policy.Stage{
			policy.Mask{WindowTurns: rng.IntN(6), KeepFirst: rng.IntN(3), KeepLast: rng.IntN(4), MaxChars: rng.IntN(3) * 70, Every: rng.IntN(4), Turns: rng.IntN(2), MinTokens: rng.IntN(2) * 40, CostAsChars: rng.IntN(2) == 0, BareBlocks: rng.IntN(2) == 0},
			policy.Truncate{MaxTokens: rng.IntN(300), Keep: keep(), Newest: keep(), MarkerOnTop: rng.IntN(2) == 0, NoShare: rng.IntN(2) == 0, BytesPerToken: rng.IntN(2) * 4},
			policy.Squeeze{Keep: keep()},
			policy.Drop{NoNotice: rng.IntN(2) == 0},
			policy.Media{Deep: rng.IntN(2) == 0, Turns: rng.IntN(3), Heavy: rng.IntN(2) == 0},
			policy.Duplicates{},
			cutAll{},
		}
		steps = append(steps, reduce.Step{Stage: stages[rng.IntN(len(stages))], Goal: policy.Goal(rng.IntN(2)), Manual: rng.IntN(2) == 0})
	}
	return steps
}

func outcomeOf(t *testing.T, book *behavior.Record, out *reduce.Outcome, err error) string {
	t.Helper()
	if out == nil {
		return "error " + book.Hash([]byte(err.Error()))
	}
	edits := 0
	var text []byte
	for _, m := range out.Conversation.Messages() {
		text = fmt.Appendf(text, "%s\n", contents(t, m))
	}
	for _, p := range out.Passes {
		edits += p.Applied
		text = fmt.Appendf(text, "%s %v %d %d %d %d %v %v\n", p.Stage, p.Sources, p.Proposed, p.Applied, p.Before, p.After, p.Err, p.Discarded)
		for _, e := range p.Edits {
			text = fmt.Appendf(text, "%v %s\n", e.Decision, e.Reason)
		}
	}
	text = fmt.Appendf(text, "%v", err)
	return fmt.Sprintf("%d passes, %d edits, %d messages, %d tokens, fits %t, %s", len(out.Passes), edits, len(out.Conversation.Messages()), out.View.Total(), err == nil, book.Hash(text))
}

func contents(t *testing.T, m message.Message) []byte {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
