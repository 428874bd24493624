package summarize_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

func TestWriterRedactsInputAndOutput(t *testing.T) {
	secret := "tok_" + strings.Repeat("a1", 12)
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	msgs := []message.Message{
		message.User("Use the key " + secret + " to publish, never print it. " + strings.Repeat("Go on with the loader please. ", 30)),
		message.Assistant("publishing "+secret, message.Call("1", "publish", `{"token":"`+secret+`"}`)),
		message.ToolResult("1", "published with "+secret),
		{Role: message.RoleUser, Name: secret, Parts: []message.Part{{Kind: message.KindFile, Media: &message.Media{Name: secret + ".txt"}}}},
	}
	for _, name := range strategy.Names() {
		st, err := strategy.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := summarize.Writer{Strategy: st, Redact: redact}.Write(context.Background(), summarize.Input{Previous: "- the key is " + secret, Messages: msgs, Count: count4})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(sum.Text, secret) {
			t.Errorf("%s: the secret is in:\n%s", name, sum.Text)
		}
	}
	m := &model{window: 128_000}
	if _, err := (summarize.Writer{Summarizer: m, Redact: redact}).Write(context.Background(), summarize.Input{Previous: secret, Messages: msgs, Count: count4}); err != nil {
		t.Fatal(err)
	}
	if p := m.asked[0].Prompt(); strings.Contains(p.User+p.System, secret) {
		t.Error("the secret was sent to the model")
	}
}

func TestRawSendsUnredactedMessagesAndRedactsAnswer(t *testing.T) {
	secret := "tok_" + strings.Repeat("b2", 12)
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	m := &model{window: 128_000, answer: func(strategy.Request) (strategy.Draft, error) {
		return strategy.Draft{Text: "## Decisions\n- use " + secret + " for publishing the package"}, nil
	}}
	msgs := []message.Message{message.User("the key is " + secret + strings.Repeat(" and so on", 100))}
	sum, err := summarize.Writer{Summarizer: m, Redact: redact, Raw: true}.Write(context.Background(), summarize.Input{Messages: msgs, Count: count4})
	if err != nil {
		t.Fatal(err)
	}
	if p := m.asked[0].Prompt(); !strings.Contains(p.User, secret) {
		t.Error("the messages were redacted although Raw is set")
	}
	if strings.Contains(sum.Text, secret) {
		t.Errorf("the secret is in:\n%s", sum.Text)
	}
}
