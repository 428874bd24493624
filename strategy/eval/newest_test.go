package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
)

// words returns the number of words of a message, as its cost.
func words(m message.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(strings.Fields(p.Text)) + len(strings.Fields(string(p.Args)))
	}
	return n
}

func of(n int, word string) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }

func TestNewestKeepsPinnedAndLastMessages(t *testing.T) {
	msgs := []message.Message{
		message.System(of(10, "rule")), message.User(of(50, "old")), message.Assistant(of(60, "middle")),
		message.Developer(of(5, "more")), message.User(of(20, "last")),
	}
	for _, c := range []struct {
		tokens int
		want   []int
	}{
		{10, []int{0, 3}},
		{35, []int{0, 3, 4}},
		{94, []int{0, 3, 4}}, // no room for a meaningful end
		{95, []int{0, 3, 2, 4}},
		{145, []int{0, 3, 1, 2, 4}},
	} {
		view, at := Newest(msgs, c.tokens, words)
		if d := cmp.Diff(c.want, at); d != "" {
			t.Errorf("%d tokens: %s", c.tokens, d)
		}
		for k, i := range at {
			if view[k].Text() != msgs[i].Text() {
				t.Errorf("%d tokens: message %d is %q", c.tokens, i, view[k].Text())
			}
		}
	}
}

func TestNewestCutsBeginningOfOversizedMessage(t *testing.T) {
	msgs := []message.Message{message.User("go"), message.ToolResult("c", of(400, "early")+" "+of(200, "late")), message.Assistant("done")}
	view, at := Newest(msgs, 201, words)
	if d := cmp.Diff([]int{1, 2}, at); d != "" {
		t.Fatal(d)
	}
	if got := view[0].ResultText(); got != of(200, "late") && got != " "+of(200, "late") {
		t.Errorf("the end is %.60q …, %d words", got, words(view[0]))
	}
	if view[0].Role != message.RoleTool {
		t.Errorf("role %s, want tool", view[0].Role)
	}
}

func TestNewestShowsEndOfOversizedCall(t *testing.T) {
	msgs := []message.Message{message.Assistant("I write it", message.Call("c", "write", `{"text":"`+of(300, "early")+" "+of(120, "late")+`"}`)), message.ToolResult("c", "all done")}
	view, at := Newest(msgs, 122, words)
	if d := cmp.Diff([]int{0, 1}, at); d != "" {
		t.Fatal(d)
	}
	if got := strings.TrimSpace(view[0].Text()); got != of(120, "late")+`"}` {
		t.Errorf("the end is %.60q …, %d words", got, words(view[0]))
	}
}
