// Command summaries writes docs/SUMMARIES.md: the text that the model reads
// after a compaction of each of three example sessions.
//
//	go run ./tools/summaries -out docs/SUMMARIES.md
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/token"
)

// shown are the sessions, with their titles.
var shown = []struct{ file, title string }{
	{"support-session.jsonl", "A support session"},
	{"coding-session.jsonl", "A coding session"},
	{"research-session.jsonl", "A research session"},
}

func main() {
	data := flag.String("data", "examples/data", "folder of the sessions")
	out := flag.String("out", "docs/SUMMARIES.md", "file to write")
	flag.Parse()
	log.SetFlags(0)
	page, err := render(*data)
	if err != nil {
		log.Fatal("summaries: ", err)
	}
	if err := os.WriteFile(*out, []byte(page), 0o600); err != nil {
		log.Fatal("summaries: ", err)
	}
}

const head = `# What the model reads after a compaction

Three sessions of examples/data and the summaries that stand for them: strategy task_state, backend extractive, no model.
System messages are never summarized. This page is generated: ` + "`go run ./tools/summaries`" + `.
`

// render writes the page.
func render(data string) (string, error) {
	counter, err := token.ForModel("gpt-4o")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(head)
	for _, s := range shown {
		raw, err := os.ReadFile(filepath.Join(data, s.file))
		if err != nil {
			return "", err
		}
		msgs, _, err := openai.Parse(raw)
		if err != nil {
			return "", err
		}
		var old []message.Message
		for _, m := range msgs {
			if m.Role != message.RoleSystem && m.Role != message.RoleDeveloper {
				old = append(old, m)
			}
		}
		sum, err := summarize.Writer{}.Write(context.Background(), summarize.Input{Messages: old, Count: counter.Count})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s: %d messages, a summary of %d tokens.\n\n~~~markdown\n%s\n~~~\n", s.title, s.file, len(old), sum.Tokens, sum.Text)
	}
	return b.String(), nil
}
