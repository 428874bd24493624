// Command stage shows a custom stage that runs before the built-in stages. An agent
// that waits for a job polls its state, and each new answer makes the older ones
// useless. The stage masks the older answers before the built-in stages remove anything
// useful.
//
//	go run ./examples/stage
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
	"github.com/agentcompact/compact/policy"
)

// Polls masks the answers to calls that were made again later with the same
// arguments.
type Polls struct{}

// Name returns "polls".
func (Polls) Name() string { return "polls" }

// Propose offers one group for each answer that a newer answer replaces, the oldest
// first.
func (Polls) Propose(_ context.Context, v *policy.View) (p policy.Proposal, err error) {
	asked := map[string]string{} // call id → tool and arguments
	newest := map[string]int{}   // tool and arguments → index of the newest answer
	for i, m := range v.Messages {
		for _, part := range m.Parts {
			switch part.Kind {
			case message.KindToolCall:
				asked[part.CallID] = part.Name + string(part.Args)
			case message.KindToolResult:
				newest[asked[part.CallID]] = i
			}
		}
	}
	for i, m := range v.Messages[:v.Open] {
		for k, part := range m.Parts {
			if part.Kind != message.KindToolResult || asked[part.CallID] == "" || newest[asked[part.CallID]] == i || v.Pinned[i] {
				continue
			}
			if e, ok := (policy.Mask{}).Edit(v, i, k); ok {
				e.Reason = "asked again later"
				p.Groups = append(p.Groups, []policy.Edit{e})
			}
		}
	}
	return p, nil
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Stdout, ".compact/archive"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, archive string) (err error) {
	c := compact.Config{
		Model: "gpt-4", MaxContextTokens: 16_000,
		Stages: []compact.OwnStage{{Stage: Polls{}}}, // before the stages of the preset
	}
	c.Storage.Path = archive
	m, err := compact.New(ctx, c)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := m.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	res, err := m.Preflight(ctx, "deployment", history())
	if err != nil {
		return err
	}
	for _, s := range res.Stages {
		fmt.Fprintf(w, "%s: %d edits, %d tokens before, %d after\n", s.Stage, s.Edits, s.Before, s.After)
	}
	fmt.Fprintf(w, "%d of %d messages are as they were\n", res.KeptCount, len(res.Messages))
	return nil
}

// history returns a session in which an agent reads a file and waits for a job.
func history() []message.Message {
	msgs := []message.Message{
		message.User("Deploy it, and tell me when it runs."),
		message.Assistant("", message.Call("file", "read", `{"path":"deploy.yaml"}`)),
		message.ToolResult("file", strings.Repeat("replicas: 3\n", 50)),
	}
	for i := range 60 {
		id := fmt.Sprintf("poll_%d", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "status", `{"job":"deploy"}`)),
			message.ToolResult(id, fmt.Sprintf("after %d minutes: %s", i, strings.Repeat("pod is pending; ", 60))))
	}
	return msgs
}
