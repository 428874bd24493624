package tidy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// breaking makes the reducer code panic for texts that hold a word.
func breaking(t *testing.T, word string) {
	t.Helper()
	was := reducers
	t.Cleanup(func() { reducers = was })
	reducers = append([]reducer(nil), was...)
	for i := range reducers {
		if work := reducers[i].work; reducers[i].name == "code" {
			reducers[i].work = func(d *draft, r *Result, room int) verdict {
				if strings.Contains(r.Text, word) {
					panic("a fault in a reducer")
				}
				return work(d, r, room)
			}
		}
	}
}

func TestStageKeepsTheResultIfAReducerPanics(t *testing.T) {
	breaking(t, "unlucky")
	code := samples[0].make(30_000)
	msgs := []message.Message{
		message.User("Read the files."),
		message.Assistant("", message.Call("a", "Read", `{"file_path":"/a.go"}`), message.Call("b", "Read", `{"file_path":"/b.go"}`)),
		message.ToolResult("a", "\x1b[31m// unlucky\x1b[m\n"+code),
		message.ToolResult("b", strings.ReplaceAll(code, "return", "yield")),
	}
	e := reduce.Engine{Steps: []reduce.Step{{Stage: Stage{}, When: policy.Always}}, Cost: costs{}}
	out, err := e.Run(context.Background(), reduce.Request{Conversation: reduce.NewConversation(msgs, policy.Pins{}, policy.Forms{}), Only: policy.Always, Budget: policy.Budget{Cap: 1 << 20, Target: 1 << 20, Trigger: 1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	got := out.Conversation.Messages()
	if got[2].Parts[0].Text != msgs[2].Parts[0].Text {
		t.Errorf("the result was changed:\n%.300s", got[2].Parts[0].Text)
	}
	if !IsReduced(got[3].Parts[0].Text) {
		t.Error("the other result was not reduced")
	}
	var failed *ReducerError
	var panicked *policy.PanicError
	if err := out.Passes[0].Err; !errors.As(err, &failed) || failed.Reducer != "code" || !errors.As(err, &panicked) || !strings.Contains(string(panicked.Stack), "breaking") {
		t.Errorf("the pass reports %v", err)
	}
}

type costs struct{}

func (c costs) Message(m message.Message) (n int) {
	for i := range m.Parts {
		n += c.Text(m.Parts[i].Text)
	}
	return n
}
func (costs) Text(s string) int { return len(s)/4 + 1 }
