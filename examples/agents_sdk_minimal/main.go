// Command agents_sdk_minimal is an agent loop that calls compact before every
// model call, and nothing else: it needs no key and no network. The model is a
// stand-in that requests one tool after the other. The events go to the console,
// and to an Ariadne if COMPACT_ARIADNE_URL names one.
//
//	go run ./examples/agents_sdk_minimal
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
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/console"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Stdout, ".compact/archive"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, archive string) error {
	c := compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Exporters: []trace.Exporter{console.New(w, nil)}}
	c.Storage.Path, c.Trace.AriadneURL = archive, os.Getenv("COMPACT_ARIADNE_URL")
	m, err := compact.New(ctx, c)
	if err != nil {
		return err
	}
	defer m.Close(ctx)

	history := []message.Message{message.System("You count words in files."), message.User("Count the words of all 40 chapters.")}
	for step := range 40 {
		// The hook: this is all that an agent needs.
		res, err := m.Preflight(ctx, "minimal", history)
		if err != nil {
			return err
		}
		answer := model(step, res.Messages)
		history = append(history, answer, tool(answer))
	}
	if err := m.Flush(ctx); err != nil {
		return err
	}
	fmt.Fprintf(w, "done: %d messages, and no request was larger than %d tokens\n", len(history), 8_000)
	return nil
}

// model stands in for a model call: it reads the view and requests the next
// chapter.
func model(step int, view []message.Message) message.Message {
	text := fmt.Sprintf("I have seen %d messages. Next is chapter %d.", len(view), step+1)
	return message.Assistant(text, message.Call(fmt.Sprintf("call_%d", step), "read_chapter", fmt.Sprintf(`{"chapter":%d}`, step+1)))
}

// tool runs the call that the model requested.
func tool(answer message.Message) message.Message {
	call := answer.Parts[len(answer.Parts)-1]
	return message.ToolResult(call.CallID, "chapter "+string(call.Args)+"\n"+strings.Repeat("It was a bright cold day in April, and the clocks were striking thirteen. ", 25))
}
