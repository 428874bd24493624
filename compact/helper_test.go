package compact_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// text returns a text of a given number of tokens of cl100k_base.
func text(tokens int) string { return strings.TrimSpace(strings.Repeat("word ", tokens)) }

// rig is a manager under test with its archive and the events that it emitted.
type rig struct {
	*compact.CompactManager
	t       *testing.T
	archive *memory.Archive
	events  *tracetest.Recorder
}

func newRig(t *testing.T, c compact.Config) *rig {
	t.Helper()
	r := &rig{t: t, archive: memory.New(), events: &tracetest.Recorder{}}
	if c.Model == "" {
		c.Model = "gpt-4"
	}
	if c.MaxContextTokens == 0 {
		c.MaxContextTokens = 128_000
	}
	if c.Archive == nil {
		c.Archive = r.archive
	}
	c.Exporters = append(c.Exporters, r.events)
	m, err := compact.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	r.CompactManager = m
	return r
}

// named waits for the exporters and returns the events of a name.
func (r *rig) named(name string) []trace.Event {
	r.t.Helper()
	if err := r.Flush(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	return r.events.Named(name)
}

func (r *rig) preflight(history []message.Message, opts ...compact.Option) *compact.Result {
	r.t.Helper()
	res, err := reusing(history, func(mine []message.Message) (*compact.Result, error) {
		return r.Preflight(context.Background(), "s", mine, opts...)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

// reusing makes a call as a client that uses the memory of both slices for something else
// as soon as the call returns. The messages of the result are a copy.
func reusing(history []message.Message, call func([]message.Message) (*compact.Result, error)) (*compact.Result, error) {
	mine := slices.Clone(history)
	res, err := call(mine)
	shown := slices.Clone(res.Messages)
	for _, reused := range [][]message.Message{mine, res.Messages} {
		for i := range reused {
			reused[i] = message.User("another conversation")
		}
	}
	res.Messages = shown
	return res, err
}

// turns returns a conversation of n questions and answers of a given number of tokens
// each.
func turns(n, tokens int) []message.Message {
	msgs := []message.Message{message.System("Be brief.")}
	for i := range n {
		msgs = append(msgs,
			message.User(fmt.Sprintf("Question %d about module_%d: %s", i, i, text(tokens))),
			message.Assistant(fmt.Sprintf("Answer %d: %s", i, text(tokens))))
	}
	return msgs
}

// loop returns an agent loop: one user message, then rounds of one call and its result.
func loop(rounds, tokens int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make all tests of module_a pass.")}
	for i := range rounds {
		msgs = append(msgs, round(i, tokens)...)
	}
	return msgs
}

func round(i, tokens int) []message.Message {
	id := fmt.Sprintf("call_%d", i)
	return []message.Message{
		message.Assistant("", message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/file_%d.go"}`, i))),
		message.ToolResult(id, fmt.Sprintf("file_%d.go: %s", i, text(tokens))),
	}
}

// bytesOf returns the JSON of a view.
func bytesOf(msgs []message.Message) string {
	var b []byte
	for _, m := range msgs {
		b = append(openai.AppendMessage(b, m), '\n')
	}
	return string(b)
}

func decided(res *compact.Result, d policy.Decision) (at []int) {
	for _, m := range res.Decisions {
		if m.Decision == d {
			at = append(at, m.Index)
		}
	}
	return at
}

// summaries returns the versions of the summaries in a view.
func summaries(view []message.Message) (versions []int) {
	for _, m := range view {
		if v, _, ok := policy.ParseSummary(m); ok {
			versions = append(versions, v)
		}
	}
	return versions
}

// paired fails unless every result has its call right before it and every call
// its result.
func paired(t *testing.T, view []message.Message) {
	t.Helper()
	waiting := map[string]bool{}
	for i, m := range view {
		for _, p := range m.Parts {
			switch p.Kind {
			case message.KindToolCall:
				waiting[p.CallID] = true
			case message.KindToolResult:
				if !waiting[p.CallID] {
					t.Errorf("message %d: result of %s without its call", i, p.CallID)
				}
				delete(waiting, p.CallID)
			}
		}
	}
	for id := range waiting {
		t.Errorf("call %s has no result", id)
	}
}
