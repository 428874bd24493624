package strategy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/internal/garble"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// tools are names of tools and of their main arguments, which the extractor knows in part.
var tools = [][]string{{"bash", "command"}, {"Edit", "file_path", "old_string", "new_string"}, {"read_file", "path"}, {"apply_patch", "patch"}, {"click", "element"}, {"Write", "file_path", "content"}, {"TodoWrite", "todos"}, {"lookup", "id"}}

// TestDamagedSessionsAreSummarized summarizes sessions of joined and damaged texts, and the
// next part after each summary. The summaries fit, and are the same twice.
func TestDamagedSessionsAreSummarized(t *testing.T) {
	seeds := garble.Literals(t)
	for _, m := range session(t) {
		for i := range m.Parts {
			seeds = append(seeds, m.Parts[i].Text, string(m.Parts[i].Args))
		}
	}
	var texts []string
	previous := map[string]string{}
	garble.Each(t, seeds, samples.Few(10_000), 1, func(text string) {
		if texts = append(texts, text); len(texts) < 60 {
			return
		}
		msgs := damagedSession(texts)
		texts = nil
		for _, name := range strategy.Names() {
			previous[name] = summarized(t, name, msgs, previous[name])
		}
	})
}

// damagedSession returns a session with these texts as messages, arguments and results.
func damagedSession(texts []string) []message.Message {
	next := func() (s string) {
		if len(texts) > 0 {
			s, texts = texts[0], texts[1:]
		}
		return s
	}
	msgs := []message.Message{message.User(next())}
	for i := 0; len(texts) > 0; i++ {
		tool, args := tools[i%len(tools)], map[string]string{}
		for _, name := range tool[1:] {
			args[name] = next()
		}
		raw, _ := json.Marshal(args) // strings cause no error
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message.Assistant(next(), message.Call(id, tool[0], string(raw))), message.ToolResult(id, next()))
		if i%5 == 4 {
			msgs = append(msgs, message.Assistant(next()), message.User(next()))
		}
	}
	return msgs
}

// summarized returns the summary of a session and of the summary before it.
func summarized(t *testing.T, name string, msgs []message.Message, previous string) string {
	st, err := strategy.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	w := summarize.Writer{Strategy: st, MaxTokens: 800, UserTokens: 200}
	first := ""
	for range 2 {
		sum, err := w.Write(context.Background(), summarize.Input{Messages: msgs, Previous: previous, Count: count4})
		switch {
		case err != nil:
			t.Fatal(err)
		case first != "" && sum.Text != first:
			t.Errorf("%s: the second summary differs:\n%s\nfirst:\n%s", name, sum.Text, first)
		case count4(sum.Text) > w.MaxTokens+4*w.UserTokens+40: // with the heading and the first lines; the newest words of the user stay up to four times their limit
			t.Errorf("%s: a summary of %d tokens:\n%s", name, count4(sum.Text), sum.Text)
		}
		first = sum.Text
	}
	return first
}
