package compact_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// The summary in the ledger is larger than the limit for a new summary, because the
// setting was lowered or the next model has a smaller window. On each wire, whether the
// agent keeps the view or sends the whole history, no request is refused if the
// messages that must stay fit together with a notice. Anthropic and Gemini need one
// more message before the notice, because the user must come first.
func TestLargeSummaryInTheLedgerCausesNoRefusal(t *testing.T) {
	stages := [][]string{nil}
	if soak() {
		stages = append(stages, []string{"mask", "summarize"}, []string{"summarize", "shrink", "squeeze"})
	}
	again, calls := 0, 0
	for w := range wires {
		for _, names := range stages {
			for _, kept := range []bool{false, true} {
				cost := costOf(t, compact.Config{})
				for _, limit := range []int{0, 100} { // 0 = the limit stays the same, and only the window changes
					for _, above := range []int{30} {
						archive := memory.New()
						history := summarizedOn(t, archive, kept, 4_000)
						c, _ := compact.Preset("graduated")
						c.Model, c.Summarizer.MaxTokens, c.Policy.HardCapBuffer, c.Archive = propertyModel, limit, 0, archive
						if names != nil {
							c.Policy.Stages = names
						}
						req := onWire(t, w, 1, history)
						msgs := req.Messages()
						c.MaxContextTokens = planOf(c).Floor(msgs, pinnedByRole, cost.Message, cost.Reply()+cost.Tools(req.About().Tools)) + above + 1
						m, err := compact.New(context.Background(), c)
						if err != nil {
							t.Fatal(err)
						}
						res, err := m.Preflight(context.Background(), "s", msgs, compact.WithRequest(req), compact.WithModel(propertyModel), compact.WithMaxOutput(1))
						calls++
						if err != nil {
							t.Errorf("%s, %v, kept %v, limit %d, %d above the floor: %v", w, names, kept, limit, above, err)
						} else if res.After.Total > res.Budget {
							t.Errorf("%d of %d tokens", res.After.Total, res.Budget)
						}
						if res.Triggered && (kept || res.Replayed > 0) {
							again++
						}
						_ = m.Close(context.Background())
					}
				}
			}
		}
	}
	t.Logf("%d of %d calls had the summary of the ledger in their view, and replaced it by a new one", again, calls)
	if again < calls/2 {
		t.Error("too few calls replaced the summary of the ledger")
	}
}

// summarizedOn compacts a session with a summary of many tokens, and returns
// the next history: the view, or the whole history, and a little more.
func summarizedOn(t *testing.T, archive *memory.Archive, kept bool, tokens int) []message.Message {
	t.Helper()
	c, _ := compact.Preset("graduated")
	c.Model, c.MaxContextTokens, c.Summarizer.MaxTokens, c.Archive = propertyModel, 32_000, tokens, archive
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	history := turns(2, 40)
	for i := range 40 {
		history = append(history, message.User(fmt.Sprintf("Next, part %d: see src/part%d.go. %s", i, i, text(250))))
		history = append(history, round(100+i, 500)...)
		history = append(history, message.Assistant(fmt.Sprintf("Done with src/part%d.go. %s", i, text(100))))
	}
	history = append(history, message.User("And now?"))
	res, err := m.Preflight(context.Background(), "s", history)
	if err != nil || len(summaries(res.Messages)) != 1 {
		t.Fatalf("%v, %d summaries; want no error and 1", err, len(summaries(res.Messages)))
	}
	if res.Summary.Tokens < 1_000 {
		t.Fatalf("the summary has %d tokens, too few for this test, want at least 1000", res.Summary.Tokens)
	}
	if kept {
		history = res.Messages
	}
	return append(history[:len(history):len(history)], message.Assistant("Nothing."), message.User("Then go on."))
}
