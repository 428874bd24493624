package replay

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func failing(id, command string) []message.Message {
	return []message.Message{
		message.Assistant("", message.Part{Kind: message.KindToolCall, CallID: id, Name: "bash", Args: []byte(`{"command":"` + command + `"}`)}),
		message.ToolResult(id, "Exit code 1\n--- FAIL: TestTornWrite\n"+strings.Repeat("a line of the log\n", 40)),
	}
}

func TestViewStatesRemovedFacts(t *testing.T) {
	h := append([]message.Message{message.System("You are an agent."), message.User("Please never touch the vendor folder.")}, failing("a", "go test ./storage")...)
	h = append(h, message.User("Go on."))
	masked := func(text string) message.Message {
		m, err := h[3].WithPartText(0, text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	instead := func(text string) *View {
		return &View{Messages: []message.Message{h[0], message.Assistant(text), h[4]}, Sources: []int{0, -1, 4}}
	}
	edited := func(text string) *View {
		return &View{Messages: []message.Message{h[0], h[1], h[2], masked(text), h[4]}, Sources: identity(5)}
	}
	for _, tc := range []struct {
		name string
		view *View
		want Told
	}{
		{"everything", &View{Messages: h, Sources: identity(5)}, Told{}},
		{"nothing", instead("Some work was done."), Told{UserOf: 1, FailedOf: 1}},
		{
			"a summary that states both", instead("The user said:\nPlease never touch the vendor folder.\n\n- `go test ./storage` failed: TestTornWrite"),
			Told{User: 1, UserOf: 1, Failed: 1, FailedOf: 1, Stated: 1},
		},
		{"a summary that is wrong", instead("- the command `go test ./storage` passed"), Told{UserOf: 1, FailedOf: 1, False: 1, Stated: 1}},
		{"a plain placeholder", edited("[observation masked — 900 chars]"), Told{FailedOf: 1}},
		{"a placeholder that states the failure", edited("[observation masked — 900 chars · bash \"go test ./storage\" · exit 1 · recall 3f9a2c1b70de]"), Told{Failed: 1, FailedOf: 1, Stated: 1}},
		{"a result that was cut", edited("Exit code 1\n--- FAIL: TestTornWrite\n[truncated: kept first ~20 of ~200 tokens (head)]"), Told{}},
	} {
		if got := toldBy(h, tc.view, inFull(h, tc.view)); got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestTotalsCountFailedCommandsOfEachCompaction(t *testing.T) {
	s := session("a", 20)
	s.Messages = append(s.Messages, failing("x", "go test ./storage")...)
	s.Messages = append(s.Messages, session("b", 40).Messages[2:]...)
	rep := run(t, Options{Policies: []Policy{preset(t, "graduated"), preset(t, "gateway"), Summarize(0.85), Raw()}, Windows: []int{8000}}, s)
	for i, want := range []struct{ judged, failed bool }{{true, true}, {true, false}, {true, false}, {false, false}} {
		told := rep.Totals[i].Failed
		if (told != nil) != want.judged || told != nil && (told.Value > 0) != want.failed {
			t.Errorf("%s: the failed command is reported as %+v, want judged %v, reported %v", rep.Totals[i].Policy, told, want.judged, want.failed)
		}
		if f := rep.Totals[i].Kept.Told.False; f != 0 {
			t.Errorf("%s states %d outcomes that no command had", rep.Totals[i].Policy, f)
		}
	}
}

// A command that failed and then passed does not count as failed, even if the placeholder of
// the second run does not state the outcome.
func TestCommandThatPassedLastIsNotAFailure(t *testing.T) {
	again := failing("b", "go test ./storage")
	again[1] = message.ToolResult("b", "Exit code 0\nok  \texample.org/storage\t0.2s\n"+strings.Repeat("a line of the log\n", 40))
	h := append(append([]message.Message{message.User("go")}, failing("a", "go test ./storage")...), again...)
	h = append(h, message.User("Go on."))
	v := &View{Messages: append([]message.Message(nil), h...), Sources: identity(len(h))}
	v.Messages[2], v.Messages[4] = message.ToolResult("a", "[observation masked — 900 chars]"), message.ToolResult("b", "[observation masked — 800 chars]")
	if got := toldBy(h, v, inFull(h, v)); got != (Told{}) {
		t.Errorf("%+v, although no command failed last", got)
	}
}
