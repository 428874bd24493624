// Command coding_session replays a recorded coding session of more than
// 100,000 tokens through a window of 32,000, message by message, as its agent
// would have called the hook. It shows tracing to Ariadne, a protected
// message that survives every compaction, and a manual compaction at a point
// that the agent chooses.
//
//	go run ./examples/coding_session -ariadne http://127.0.0.1:5175
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

func main() {
	log.SetFlags(0)
	session := flag.String("session", "examples/data/coding-session.jsonl", "the recorded session")
	ariadne := flag.String("ariadne", "", "URL of an Ariadne Trace Viewer; empty: that of COMPACT_ARIADNE_URL, or the audit log alone")
	archive := flag.String("archive", ".compact/archive", "folder of the archive")
	flag.Parse()
	if _, err := run(context.Background(), os.Stdout, *session, *archive, *ariadne); err != nil {
		log.Fatal(err)
	}
}

// outcome holds the figures of a run, for the test.
type outcome struct {
	calls, compactions, largest, budget int
	protectedLost                       int
}

func run(ctx context.Context, w io.Writer, session, archive, ariadne string) (o outcome, err error) {
	data, err := os.ReadFile(session)
	if err != nil {
		return o, err
	}
	recorded, _, err := openai.Parse(data)
	if err != nil {
		return o, err
	}
	c := compact.Config{Model: "gpt-4", MaxContextTokens: 32_000}
	c.Storage.Path, c.Trace.AriadneURL = archive, cmp.Or(ariadne, os.Getenv("COMPACT_ARIADNE_URL"))
	m, err := compact.New(ctx, c)
	if err != nil {
		return o, err
	}
	defer func() {
		if closeErr := m.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	for i := range recorded {
		if recorded[i].Role != message.RoleAssistant {
			continue
		}
		// recorded[:i] is the history of the agent before this model call.
		res, err := m.Preflight(ctx, "coding-session", recorded[:i], compact.WithAgent("coder"))
		if err != nil {
			return o, err
		}
		o.see(w, res, recorded[:i])
	}
	// The task is done, so a summary replaces its messages.
	res, err := m.ManualCompact(ctx, "coding-session", recorded, "the feature is finished", compact.WithAgent("coder"))
	if err != nil {
		return o, err
	}
	o.see(w, res, recorded)
	fmt.Fprintf(w, "\n%d model calls, %d compactions, the largest request had %d of %d tokens\n", o.calls, o.compactions, o.largest, o.budget)
	return o, m.Archive(ctx, "coding-session", recorded)
}

// see counts a result, and prints it if the call compacted.
func (o *outcome) see(w io.Writer, res *compact.Result, history []message.Message) {
	o.calls++
	o.largest, o.budget = max(o.largest, res.After.Total), res.Budget
	if lost := protectedIn(history) - protectedIn(res.Messages); lost > 0 {
		o.protectedLost += lost
	}
	if !res.Triggered {
		return
	}
	o.compactions++
	fmt.Fprintf(w, "step %d: %6d -> %6d tokens, %s (in the view: %d masked, %d summarized), %s\n",
		res.Step, res.Before.Total, res.After.Total, res.CallStage, res.MaskedCount, res.SummarizedCount, res.Reason)
}

func protectedIn(msgs []message.Message) (n int) {
	for _, m := range msgs {
		if m.Protected {
			n++
		}
	}
	return n
}
