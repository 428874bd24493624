package compact_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// factSummarizer is a model that writes down the facts of its input, and nothing else.
type factSummarizer struct{}

func (factSummarizer) Summarize(_ context.Context, r strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{Text: r.Notes}, nil
}

// era is a session with the facts that must be known after all its compactions.
type era struct {
	rng  *rand.Rand
	n    int // of calls
	plan []string
	must []string // in the view at the end
	open map[string]string
}

func (e *era) call(tool, args, result string) []message.Message {
	e.n++
	id := fmt.Sprintf("call_%d", e.n)
	return []message.Message{message.Assistant("", message.Call(id, tool, args)), message.ToolResult(id, result)}
}

// next returns the messages between two compactions.
func (e *era) next(k int) (msgs []message.Message) {
	said := fmt.Sprintf("Please never rename column_%d of table%d, and keep at most %d of them.", k, k, 10+e.rng.IntN(80))
	msgs = append(msgs, message.User(said))
	e.must = append(e.must, said)
	e.plan = append(e.plan, fmt.Sprintf("Move table%d", k))
	events := []func(){
		func() {
			msgs = append(msgs, e.call("TodoWrite", e.todos(k), "Todos have been modified successfully.")...)
		},
		func() {
			msgs = append(msgs, e.call("edit", fmt.Sprintf(`{"path":"db/table%d.go","old_string":"a","new_string":"b"}`, k), "The file has been updated.")...)
			e.must = append(e.must, fmt.Sprintf("table%d.go", k))
		},
		func() {
			cmd, wrong := fmt.Sprintf("make check-table%d", k), fmt.Sprintf("Error: table%d has no primary key", k)
			msgs = append(msgs, e.call("bash", fmt.Sprintf(`{"command":%q}`, cmd), "Exit code 2\n"+text(120)+"\n"+wrong)...)
			e.open[cmd] = wrong
		},
	}
	e.rng.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	for _, happens := range events {
		happens()
		msgs = append(msgs, e.call("read_file", fmt.Sprintf(`{"path":"doc/page%d.md"}`, e.n), text(150))...)
	}
	for range 8 {
		msgs = append(msgs, e.call("read_file", fmt.Sprintf(`{"path":"doc/page%d.md"}`, e.n), text(150))...)
	}
	return append(msgs, message.Assistant(fmt.Sprintf("table%d is looked at.", k)))
}

func (e *era) todos(k int) string {
	var items []string
	for i, p := range e.plan {
		status := "completed"
		if i == k {
			status = "in_progress"
		}
		items = append(items, fmt.Sprintf(`{"content":%q,"status":%q}`, p, status))
	}
	return `{"todos":[` + strings.Join(items, ",") + `]}`
}

// Summary 7 still contains the facts of summary 1: the user's words, the commands that
// still fail, the changed files, and the plan, for each writer of summaries, and for
// each way in which the caller uses the views.
func TestSevenCompactionsLoseNothing(t *testing.T) {
	for name, test := range map[string]struct {
		model strategy.Summarizer
		kept  bool
	}{"extractive, whole history": {nil, false}, "extractive, kept view": {nil, true}, "model, whole history": {factSummarizer{}, false}, "model, kept view": {factSummarizer{}, true}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(samples.Of(3)) {
				e := &era{rng: rand.New(rand.NewPCG(seed, 7)), open: map[string]string{}}
				view := e.seven(t, test.model, test.kept)
				for _, want := range e.must {
					if !strings.Contains(view, want) {
						t.Errorf("seed %d: %q is lost", seed, want)
					}
				}
				for cmd, wrong := range e.open {
					if !strings.Contains(view, cmd) || !strings.Contains(view, wrong) {
						t.Errorf("seed %d: no message reports that %s failed with %q", seed, cmd, wrong)
					}
				}
				if t.Failed() {
					t.Fatal(view)
				}
			}
		})
	}
}

// seven compacts seven times, from the fourth time on in another process, and
// returns the summary and the messages after it.
func (e *era) seven(t *testing.T, model strategy.Summarizer, kept bool) string {
	t.Helper()
	c := compact.Config{MaxContextTokens: 64_000, Archive: memory.New(), Summarize: model}
	m := newRig(t, c)
	var history []message.Message
	var res *compact.Result
	for k := range 7 {
		if k == 3 {
			m = newRig(t, c)
		}
		history = append(history[:len(history):len(history)], e.next(k)...)
		var err error
		if res, err = m.ManualCompact(t.Context(), "s", history, ""); err != nil {
			t.Fatal(err)
		}
		if versions := summaries(res.Messages); len(versions) != 1 || len(res.Warnings) > 0 {
			t.Fatalf("compaction %d: summaries %v, warnings %v", k+1, versions, res.Warnings)
		}
		if kept {
			history = res.Messages
		}
	}
	for i := range e.plan {
		want := fmt.Sprintf("[open] %s (in progress)", e.plan[i])
		if i < len(e.plan)-1 {
			want = e.plan[i]
		}
		e.must = append(e.must, want)
	}
	var b strings.Builder
	for _, m := range res.Messages {
		_, body, ours := policy.ParseSummary(m)
		if ours && strings.Contains(body, "[open] "+e.plan[0]) {
			t.Errorf("an item that is done is open again:\n%s", body)
		}
		b.WriteString(m.Text() + m.ResultText() + "\n")
		for _, p := range m.Parts {
			b.Write(p.Args)
		}
	}
	return b.String()
}
