// Package crew lets several agents of one session work at once, in one process or in
// several. It compares the results of each agent with the results of the same agent
// alone.
package crew

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/strategy"
)

// Session is the session of all agents.
const Session = "s"

// A Summarizer is slow, and returns the same summary for the same input.
type Summarizer struct {
	After time.Duration // duration of one summary
	Calls atomic.Int64
}

// Summarize implements [strategy.Summarizer].
func (s *Summarizer) Summarize(ctx context.Context, q strategy.Request) (strategy.Draft, error) {
	s.Calls.Add(1)
	select {
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	case <-time.After(s.After):
	}
	return strategy.Draft{
		Text:         "## Goals and success criteria\n- [open] the tests of the module pass; the last file that was read is " + lastFile(q.Messages) + "\n",
		PromptTokens: 900, CompletionTokens: 20,
	}, nil
}

// lastFile returns the last file that a call names, so that summaries of different
// messages differ.
func lastFile(messages []message.Message) string {
	for _, m := range slices.Backward(messages) {
		for _, p := range m.Parts {
			if _, file, ok := strings.Cut(string(p.Args), `"path":"`); ok {
				return strings.TrimSuffix(file, `"}`)
			}
		}
	}
	return "none"
}

// A Crew is a group of agents. Each agent has a separate history that grows from call
// to call.
type Crew struct {
	Agents []int                          // numbers of the agents
	As     func(agent int) compact.Option // options that identify an agent
	First  int                            // rounds of the history of the first call
	Grow   int                            // number of additional messages at each further call
	Calls  int
}

// History returns the history of an agent in a call. No two agents have similar
// histories.
func (c *Crew) History(agent, call int) []message.Message {
	history := []message.Message{message.System("You fix bugs."), message.User(fmt.Sprintf("Make all tests of module_%d pass.", agent))}
	for i := range c.First + call*c.Grow {
		id := fmt.Sprintf("call_%d", i)
		history = append(history,
			message.Assistant("", message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/file_%d.go"}`, i))),
			message.ToolResult(id, fmt.Sprintf("file_%d.go: %s", i, strings.Repeat("word ", 200))))
	}
	return history
}

// An Outcome holds the results of a crew's calls.
type Outcome struct {
	Views       map[int][]string // by agent, the hash of the view of each call
	Compactions int
	Summaries   int // made by compactions
}

// Add adds the outcome of other members of the crew.
func (o *Outcome) Add(other Outcome) {
	if o.Views == nil {
		o.Views = map[int][]string{}
	}
	for agent, views := range other.Views {
		o.Views[agent] = append(o.Views[agent], views...)
	}
	o.Compactions += other.Compactions
	o.Summaries += other.Summaries
}

// Work makes the agents work, all at once or one after the other. An error, or a
// view above the budget, fails the test.
func (c *Crew) Work(t testing.TB, m *compact.CompactManager, atOnce bool) (all Outcome) {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, agent := range c.Agents {
		one := func() {
			got := c.one(t, m, agent)
			mu.Lock()
			defer mu.Unlock()
			all.Add(got)
		}
		if atOnce {
			wg.Go(one)
		} else {
			one()
		}
	}
	wg.Wait()
	return all
}

func (c *Crew) one(t testing.TB, m *compact.CompactManager, agent int) Outcome {
	out := Outcome{Views: map[int][]string{}}
	for call := range c.Calls {
		res, err := m.Preflight(context.Background(), Session, c.History(agent, call), c.As(agent))
		if err != nil {
			t.Errorf("agent %d, call %d: %v", agent, call, err)
		}
		if res.After.Total > res.Budget {
			t.Errorf("agent %d, call %d: the view has %d tokens, but the budget is %d", agent, call, res.After.Total, res.Budget)
		}
		if res.Triggered {
			out.Compactions++
		}
		if slices.ContainsFunc(res.Stages, func(s compact.StageReport) bool { return s.Stage == summarize.StageName && s.Edits > 0 }) {
			out.Summaries++
			if res.Summary == nil || res.InvariantStatus != compact.InvariantsOK {
				t.Errorf("agent %d, call %d: no summary: %s", agent, call, res.ReductionStage)
			}
		}
		out.Views[agent] = append(out.Views[agent], hash(res.Messages))
	}
	return out
}

func hash(view []message.Message) string {
	var b []byte
	for _, m := range view {
		b = append(openai.AppendMessage(b, m), '\n')
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// Compare compares the outcome of agents that worked at once with the outcome of the
// same agents one by one. calls is the number of calls of the summarizer in the crew's
// run.
func Compare(t testing.TB, got, alone Outcome, calls int64) {
	t.Helper()
	for agent, views := range alone.Views {
		if !slices.Equal(got.Views[agent], views) {
			t.Errorf("agent %d got other views than it gets alone", agent)
		}
	}
	if got.Compactions != alone.Compactions || got.Compactions == 0 {
		t.Errorf("%d compactions, want %d, as with one agent after the other", got.Compactions, alone.Compactions)
	}
	if int(calls) != got.Summaries || got.Summaries != alone.Summaries || calls == 0 {
		t.Errorf("the summarizer was asked %d times for %d summaries, want %d, as with one agent after the other", calls, got.Summaries, alone.Summaries)
	}
}

// Verify checks the session in the archive against its manifest and its ledgers, as
// compactctl archive verify does.
func Verify(t testing.TB, a storage.Archive, steps int) {
	t.Helper()
	report, err := record.Verify(context.Background(), a, Session, record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range report.Problems {
		t.Errorf("verify: %s", p)
	}
	if report.Steps != steps {
		t.Errorf("%d steps are committed, want %d", report.Steps, steps)
	}
}

// Manager returns a manager with a window that the histories of a crew exceed.
func Manager(t testing.TB, a storage.Archive, s strategy.Summarizer) *compact.CompactManager {
	t.Helper()
	m, err := compact.New(context.Background(), compact.Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a, Summarize: s})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	return m
}
