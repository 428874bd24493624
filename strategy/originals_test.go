package strategy

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

const hidden = "[observation masked — 4200 chars]"

// masked is a view in which an earlier run masked a result.
func masked(text string) *policy.View {
	return view([]message.Message{
		message.User("Run the tests, please."),
		message.Assistant("", message.Call("1", "bash", `{"command":"go test ./a"}`)),
		message.ToolResult("1", text),
		message.User("Go on."),
	}, 6000)
}

func TestWhatWasMaskedIsReadFromTheArchive(t *testing.T) {
	v := masked(hidden)
	v.Origins = func(i, p int) (policy.Origin, bool) { return policy.Origin{Chars: 4200, Ref: "3f9a2c1b70de"}, i == 2 }
	m := restored(v, 2, func(ref string) (string, bool) { return "Exit code 1\n--- FAIL: TestA", ref != "" })
	if got := m.ResultText(); got != "Exit code 1\n--- FAIL: TestA" {
		t.Errorf("%q", got)
	}
	if v.Messages[2].ResultText() != hidden {
		t.Error("the view was modified")
	}
}

func TestOfWhatIsNotToBeHadNothingIsSaid(t *testing.T) {
	for _, text := range []string{hidden, "[truncated: kept first ~8000 of ~52000 tokens (head)]"} {
		v := masked(text)
		var msgs []message.Message
		for i := range v.Messages {
			msgs = append(msgs, restored(v, i, nil))
		}
		d := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1, Count: quarter}).compose(Request{Strategy: TaskState, MaxTokens: 500, Count: quarter})
		for _, not := range []string{"masked", "4200", "truncated", "8000", "passed", "failed"} {
			if text := d.body(TaskState); strings.Contains(text, not) {
				t.Errorf("%q is in:\n%s", not, text)
			}
		}
	}
}

// Where the archive can't be read, a placeholder that this program wrote still says
// how the tests ended. One of a tool says nothing.
func TestOfWhatIsNotToBeHadThePlaceholderTellsTheOutcome(t *testing.T) {
	const head = `[observation masked — 4200 chars · bash "go test ./a"`
	for _, c := range []struct{ text, want string }{
		{head + ` · says "--- FAIL: TestA (0.00s)" · exit 0 · recall 3f9a2c1b70de]`, "--- FAIL: TestA (0.00s)\n[exit code: 0]"},
		{head + ` · says "ok a 0.1s"]`, "ok a 0.1s"},
		{head + ` · exit 1]`, "[exit code: 1]"},
		{head + `]`, ""},
		{hidden, ""},
	} {
		v := masked(c.text)
		if got := restored(v, 2, nil).ResultText(); got != "" {
			t.Errorf("of a tool: %q", got)
		}
		v.Origins = func(i, p int) (policy.Origin, bool) { return policy.Origin{Chars: 4200, Ref: "3f9a2c1b70de"}, i == 2 }
		m := restored(v, 2, func(string) (string, bool) { return "", false })
		if got := m.ResultText(); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	v := masked(head + ` · says "--- FAIL: TestA (0.00s)" · exit 0]`)
	v.Origins = func(i, p int) (policy.Origin, bool) { return policy.Origin{Chars: 4200}, i == 2 }
	msgs := []message.Message{v.Messages[0], v.Messages[1], restored(v, 2, nil), v.Messages[3]}
	d := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1, Count: quarter}).compose(Request{Strategy: TaskState, MaxTokens: 500, Count: quarter})
	if text := d.body(TaskState); !strings.Contains(text, "--- FAIL: TestA (0.00s)") || strings.Contains(text, "passed") {
		t.Error(text)
	}
}

// A summary that quotes bytes that are no text could not be stored as it is, and no other
// process would make the same view.
func TestSummariesHoldNoBytesThatAreNoText(t *testing.T) {
	msgs := session(20)
	for i := range msgs {
		if msgs[i].IsUser() {
			msgs[i] = message.User("Make a\xff\xfe.go pass. " + msgs[i].Text())
		}
	}
	msgs[2] = message.Assistant("I look at it.", message.Part{Kind: message.KindToolCall, CallID: "9", Name: "ba\xffsh", Args: []byte("{\"command\":\"cat b\xff.go\"}")})
	msgs[3] = message.ToolResult("9", "b\xff.go:1: error: no such thing")
	v := view(msgs, 3000)
	p, err := stage(t, Writer{}).Propose(t.Context(), v)
	if err != nil || p.Summary == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	if text := p.Summary.Text; !utf8.ValidString(text) || !strings.Contains(text, "Make a\uFFFD.go pass.") {
		t.Errorf("%q", text)
	}
	own := stage(t, Writer{Summarizer: silent{}})
	c := own.cut(v)
	p, err = own.proposeOf(c, func(*cut) (Summary, error) { return Summary{Text: "a\xffb"}, nil }, t.Context().Err)
	if err != nil || p.Summary == nil || !strings.Contains(p.Summary.Text, "\nab\n") {
		t.Errorf("%+v, %v", p.Summary, err)
	}
}

func TestWhatPeopleTypedIsNotPrunedWithTheRest(t *testing.T) {
	msgs := session(20)
	msgs = append(msgs[:8:8], append([]message.Message{message.User("Call the flag --dry, not --check."), message.Assistant("All right.")}, msgs[8:]...)...)
	v := view(msgs, 3000)
	s := stage(t, Writer{Summarizer: silent{}})
	p, err := s.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	if p.Summary == nil || p.Summary.Fallback != FallbackPruning {
		t.Fatalf("%+v", p.Summary)
	}
	out := ""
	for _, m := range apply(t, v, p) {
		out += m.Text() + "\n"
	}
	for _, want := range []string{"Call the flag --dry, not --check.", "Fix the failing import", "messages omitted"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}

// silent answers nothing that can be used.
type silent struct{}

func (silent) Summarize(context.Context, Request) (Draft, error) { return Draft{Text: "no"}, nil }
