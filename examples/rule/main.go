// Command rule removes secrets that only one company has: its badge numbers, by a
// rule with samples, and its project names, by a detector with a list. Both work in
// addition to the built-in rules, on everything that is stored, exported and
// logged; the requests to the agent's own model stay unchanged.
//
//	go run ./examples/rule
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
)

// Badge is the form of the company's badges. The samples are tested when a redactor
// is made with the rule, and by Badge.Check in a test.
var Badge = redact.Rule{
	ID:      "acme-badge",
	Words:   []string{"acme"},
	Pattern: `\bACME-[0-9]{6}\b`,
	Secrets: []string{"the door opens with ACME-" + "123456"},
	Clean:   []string{"ACME-12 is a room", "Acme has six doors"},
}

// Projects finds names that nobody outside the company may read.
type Projects []string

// Name returns "project".
func (Projects) Name() string { return "project" }

// Detect returns the positions of the names.
func (p Projects) Detect(text string) (found []redact.Range) {
	for _, name := range p {
		for at := 0; ; {
			i := strings.Index(text[at:], name)
			if i < 0 {
				break
			}
			found = append(found, redact.Range{Start: at + i, End: at + i + len(name)})
			at += i + len(name)
		}
	}
	return found
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer) (err error) {
	archive := memory.New()
	c := compact.Config{Model: "gpt-4", Archive: archive}
	c.Redaction.Rules = []redact.Rule{Badge}
	c.Redaction.Detectors = []redact.Detector{Projects{"Bluebird"}}
	m, err := compact.New(ctx, c)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := m.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	history := []message.Message{
		message.User("My badge is ACME-" + "778899. What does Bluebird still need?"),
		message.Assistant("A second reader."),
	}
	if err := m.Archive(ctx, "badges", history); err != nil {
		return err
	}
	text, err := m.Recall(ctx, "badges", "turn:1")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, text)
	return err
}
