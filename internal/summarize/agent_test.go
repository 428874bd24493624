package summarize

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// The agent's model has the whole view in its request, so its summary may name identifiers
// of messages that stay. It refuses to summarize messages that it was not sent.
func TestAgentSummaryNamesVisibleMessages(t *testing.T) {
	in := Input{
		Messages: []message.Message{message.User("fix the parser"), message.Assistant("", message.Call("a", "read", `{"path":"parser.go"}`)), message.ToolResult("a", strings.Repeat("a line of the parser; ", 80))},
		Visible:  []message.Message{message.Assistant("It is in lexer_table.go.")},
		Count:    func(s string) int { return len(s) / 4 }, Upto: 3,
	}
	asked := ""
	w := Writer{Retries: -1, Summarizer: Agent{Model: "m", Seen: 3, Ask: func(_ context.Context, instruction string) (strategy.Draft, error) {
		asked = instruction
		return strategy.Draft{Text: "## Goals and success criteria\n- [open] fix parser.go, whose tables are in lexer_table.go and in made_up_table.go\n",
			PromptTokens: 900, CachedTokens: 800, WrittenTokens: 10, CompletionTokens: 20, CacheKnown: true}, nil
	}}}
	sum, err := w.Write(context.Background(), in)
	if err != nil || !strings.Contains(sum.Text, "lexer_table.go") || strings.Contains(sum.Text, "made_up_table.go") {
		t.Errorf("%v: %s", err, sum.Text)
	}
	if sum.Named != 2 || sum.Invented != 1 {
		t.Errorf("%d names, %d of them invented", sum.Named, sum.Invented)
	}
	if sum.Backend != BackendAgent || sum.Model != "m" || sum.Prompt != 900 || sum.Cached != 800 || sum.Written != 10 {
		t.Errorf("%+v", sum)
	}
	for _, part := range []string{"Call no tool", "## What is next", "is no instruction to you"} {
		if !strings.Contains(asked, part) {
			t.Errorf("the instruction lacks %q", part)
		}
	}
	for _, secret := range []string{"lexer_table.go", "a line of the parser"} {
		if strings.Contains(asked, secret) {
			t.Errorf("the instruction repeats the conversation: %q", secret)
		}
	}
	in.Upto, asked = 4, ""
	if _, err := w.Write(context.Background(), in); !errors.Is(err, errUnseen) || asked != "" {
		t.Errorf("messages that the model was not sent: %v", err)
	}
}

// A summary by the fallback still states what the refused answer was billed with.
func TestFallbackSummaryCountsTheTokensOfTheRefusedAnswer(t *testing.T) {
	in := Input{Messages: []message.Message{message.User("fix the parser"), message.Assistant(strings.Repeat("I read a line of parser.go. ", 80))}, Count: func(s string) int { return len(s) / 4 }, Upto: 2}
	w := Writer{Retries: -1, Fallback: FallbackExtractive, Summarizer: Agent{Model: "m", Seen: 2, Ask: func(context.Context, string) (strategy.Draft, error) {
		return strategy.Draft{PromptTokens: 900, CachedTokens: 800, WrittenTokens: 10, CompletionTokens: 20, CacheKnown: true}, &strategy.Failure{Reason: strategy.ErrRejected}
	}}}
	sum, err := w.Write(context.Background(), in)
	if err != nil || sum.Fallback != FallbackExtractive || sum.Attempts != 1 {
		t.Fatalf("%v: %+v", err, sum)
	}
	if sum.Prompt != 900 || sum.Cached != 800 || sum.Written != 10 || sum.Completion != 20 {
		t.Errorf("billed %d, %d read, %d written, answer %d", sum.Prompt, sum.Cached, sum.Written, sum.Completion)
	}
}

// With StandIn, the extractive backend writes the summary and the model's cost is counted.
func TestAgentStandIn(t *testing.T) {
	in := Input{
		Messages: []message.Message{message.User("fix the parser"), message.Assistant("", message.Call("a", "bash", `{"command":"go test ./parser"}`)), message.ToolResult("a", strings.Repeat("ok; ", 400)+"\nexit status 1")},
		Count:    func(s string) int { return len(s) / 4 },
	}
	w := Writer{Summarizer: Agent{StandIn: true, Ask: func(context.Context, string) (strategy.Draft, error) {
		return strategy.Draft{PromptTokens: 900, CachedTokens: 900}, nil
	}}}
	sum, err := w.Write(context.Background(), in)
	if err != nil || sum.Prompt != 900 || sum.Completion <= 0 || !strings.Contains(sum.Text, "go test ./parser") {
		t.Errorf("%v: %+v", err, sum)
	}
}
