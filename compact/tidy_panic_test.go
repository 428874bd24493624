package compact

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// failing is the stage tidy with a reducer that panics on a marked result.
type failing struct{ tidy.Stage }

func (s failing) Propose(ctx context.Context, v *policy.View) (p policy.Proposal, err error) {
	p, err = s.Stage.Propose(ctx, v)
	for i := v.Arrived(); i < len(v.Messages); i++ {
		if text := v.Messages[i].Parts[0].Text; strings.Contains(text, "unlucky") && (v.Sent == nil || !v.Sent(&v.Messages[i])) {
			p.Groups = nil
			p.Failed = append(p.Failed, &tidy.ReducerError{Reducer: "code", Err: &policy.PanicError{Stage: "tidy", Value: "a fault", Stack: []byte("stack of the fault")}})
		}
	}
	return p, err
}

// A panicking reducer is logged once with its stack and counted, and its result
// is sent whole, then and later.
func TestPanickingReducerIsLoggedAndCountedOnce(t *testing.T) {
	var log bytes.Buffer
	said := &tracetest.Recorder{}
	c, err := Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Exporters = "gpt-4o", 128_000, memory.New(), []trace.Exporter{said}
	c.Logger, c.Policy.Stages = slog.New(slog.NewTextHandler(&log, nil)), []string{"tidy"}
	m, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, ep := range m.epochs {
		ep.engine.Steps[0].Stage = failing{ep.engine.Steps[0].Stage.(tidy.Stage)}
	}
	text := strings.Repeat("an unlucky line of a file\nanother one\n", 2000)
	history := []message.Message{message.User("Read it.")}
	failed := 0
	for i := range 4 {
		if i == 1 { // the reducer panics only for the first result
			text = strings.ReplaceAll(text, "unlucky", "lucky")
		}
		id := fmt.Sprint("call", i)
		history = append(history, message.Assistant("", message.Call(id, "cat", fmt.Sprintf(`{"n":%d}`, i))), message.ToolResult(id, text))
		for range 2 { // a call that got no answer is made again
			res, err := m.Preflight(t.Context(), "s", history)
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Messages[2].Parts[0].Text; got != history[2].Parts[0].Text {
				t.Fatalf("call %d: the result that a reducer panicked on is changed", i)
			}
			for _, r := range res.Tidied {
				failed += r.Failed
			}
		}
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "stack of the fault"); n != 1 || failed != 1 {
		t.Errorf("logged %d times, counted %d, want once:\n%s", n, failed, log.String())
	}
	events := 0
	for _, e := range said.Events() {
		if e.Name == trace.NameError && strings.Contains(string(e.AppendJSON(nil)), "reducer code failed") {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d events say so, want one", events)
	}
}
