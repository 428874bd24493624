package policy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// cut truncates the only result of a conversation and returns which part was
// kept.
func cut(t *testing.T, stage policy.Stage, tool, args string, more ...message.Message) string {
	t.Helper()
	msgs := append([]message.Message{message.User("do"), message.Assistant("", message.Call("c", tool, args)), message.ToolResult("c", "first "+text(400)+" last")}, more...)
	v := policy.NewView(msgs, pins, words{})
	v.Budget = budget(200)
	p, err := stage.Propose(context.Background(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("error %v, %d groups, want 1 group", err, len(p.Groups))
	}
	c, err := reduce.NewConversation(msgs, pins, nil).Apply(p.Groups[0])
	if err != nil {
		t.Fatal(err)
	}
	got := c.Messages()[2].ResultText()
	head, tail := strings.HasPrefix(got, "first "), strings.HasSuffix(got, " last")
	switch {
	case head && tail:
		return policy.Both
	case tail:
		return policy.Tail
	case head:
		return policy.Head
	}
	t.Fatalf("the marker names no kept part: %q", got)
	return ""
}

func TestKeepAutoKeepsBothEndsOfCommandOutput(t *testing.T) {
	answered := message.Assistant("I see.")
	for call, want := range map[[2]string]string{
		{"bash", `{}`}:                             policy.Both,
		{"run_terminal_cmd", `{}`}:                 policy.Both,
		{"runCommand", `{}`}:                       policy.Both,
		{"mcp__host__execute", `{}`}:               policy.Both,
		{"sandbox", `{"command":"go test ./..."}`}: policy.Both,
		{"local", `{"cmd":["ls"]}`}:                policy.Both,
		{"read_file", `{"path":"a.go"}`}:           policy.Head,
		{"str_replace_based_edit_tool", `{"command":"view","path":"/a"}`}: policy.Head,
		{"search", `{"query":"how to run"}`}:                              policy.Head,
	} {
		if got := cut(t, policy.Truncate{MaxTokens: 60, Keep: policy.Auto}, call[0], call[1], answered); got != want {
			t.Errorf("%v: keeps %s, want %s", call, got, want)
		}
		if got := cut(t, policy.Squeeze{Keep: policy.Auto}, call[0], call[1], answered); got != want {
			t.Errorf("%v: a squeeze keeps %s, want %s", call, got, want)
		}
	}
}

func TestTruncateKeepsBothEndsOfUnreadResults(t *testing.T) {
	stage := policy.Truncate{MaxTokens: 60, Keep: policy.Head, Newest: policy.Auto}
	if got := cut(t, stage, "bash", `{}`); got != policy.Both {
		t.Errorf("an unread result keeps %s, want both ends", got)
	}
	if got := cut(t, stage, "bash", `{}`, message.User("and?")); got != policy.Both {
		t.Errorf("an unread result before a question keeps %s, want both ends", got)
	}
	if got := cut(t, stage, "bash", `{}`, message.Assistant("Fine.")); got != policy.Head {
		t.Errorf("an answered result keeps %s, want the head", got)
	}
	if got := cut(t, stage, "read", `{}`); got != policy.Head {
		t.Errorf("a file keeps %s, want the head", got)
	}
}

// A squeeze without any room leaves only the marker. The marker does not mention two ends then.
func TestSqueezeToTheMarkerNamesNoEnds(t *testing.T) {
	msgs := []message.Message{message.User("do"), message.Assistant("", message.Call("c", "bash", "{}")), message.ToolResult("c", text(400)), message.Assistant("Fine.")}
	v := policy.NewView(msgs, pins, words{})
	v.Budget = budget(1)
	p, err := policy.Squeeze{Keep: policy.Auto}.Propose(t.Context(), v)
	if err != nil || len(p.Groups) != 1 {
		t.Fatalf("error %v, %d groups, want 1 group", err, len(p.Groups))
	}
	c, err := reduce.NewConversation(msgs, pins, nil).Apply(p.Groups[0])
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.TrimSpace(c.Messages()[2].ResultText()), "[truncated: kept first ~0 of ~400 tokens (head)]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A truncated result that kept one end has lost the other end. A second cut keeps the same end,
// with any setting, so that the marker stays correct.
func TestTruncateKeepsTheSameEndOfACutResult(t *testing.T) {
	for _, first := range []string{policy.Head, policy.Tail, policy.Both} {
		msgs := []message.Message{message.User("do"), message.Assistant("", message.Call("c", "bash", "{}")), message.ToolResult("c", "first "+text(400)+" last")}
		conv := reduce.NewConversation(msgs, pins, nil)
		for _, stage := range []policy.Truncate{{MaxTokens: 200, Keep: first}, {MaxTokens: 60, Keep: policy.Both}} {
			v := policy.NewView(conv.Messages(), pins, words{})
			v.Budget = budget(2000)
			p, err := stage.Propose(t.Context(), v)
			if err != nil || len(p.Groups) != 1 {
				t.Fatalf("%s to %d: error %v, %d groups, want 1 group", first, stage.MaxTokens, err, len(p.Groups))
			}
			if conv, err = conv.Apply(p.Groups[0]); err != nil {
				t.Fatal(err)
			}
		}
		got := conv.Messages()[2].ResultText()
		if strings.Count(got, "[truncated: kept ") != 1 || !strings.Contains(got, "~60 of ~402 tokens ("+first+")") {
			t.Errorf("first cut keeps %s, second cut keeps both: %q", first, got)
		}
	}
}
