package strategy_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
)

// recorded returns the recorded coding session of the examples.
func recorded(t testing.TB) []message.Message {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "data", "coding-session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	msgs, _, err := openai.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

func counter(t testing.TB) token.Counter {
	t.Helper()
	c, err := token.ForModel("gpt-4")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tokens returns the first messages of a conversation, as many as it takes for n
// tokens. It repeats a conversation that is too short.
func tokens(msgs []message.Message, n int, c token.Counter) []message.Message {
	var out []message.Message
	for {
		for _, m := range msgs {
			for _, p := range m.Parts {
				n -= c.Count(p.Text) + c.Count(string(p.Args))
			}
			out = append(out, m)
			if n <= 0 {
				return out
			}
		}
	}
}

// BenchmarkExtractive summarizes 128,000 tokens. It must take less than 150 ms on one core.
func BenchmarkExtractive(b *testing.B) {
	c := counter(b)
	msgs := tokens(recorded(b), 128_000, c)
	for _, name := range strategy.Names() {
		s, err := strategy.Lookup(name)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			w := summarize.Writer{Strategy: s}
			for b.Loop() {
				if _, err := w.Write(context.Background(), summarize.Input{Messages: msgs, Count: c.Count}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
