package eval

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
)

func TestSplitFollowsTheDefinition(t *testing.T) {
	msgs := []message.Message{
		message.System("policy_rule"),
		message.User("look at src/old_file.go and 4711"),
	}
	for range 8 {
		msgs = append(msgs, message.Assistant("turn "+strings.Repeat("x ", 55)))
	}
	msgs = append(msgs,
		message.User("here is 4711 again"), // shown: not needed
		message.Assistant("4711, fresh_name", message.Call("c", "read", `{"path":"src/old_file.go"}`)), // needed: the path
		message.ToolResult("c", "policy_rule"),
		message.Assistant("src/old_file.go policy_rule"))
	s, ok := Cut(Session{Messages: msgs}, 1000, func(m message.Message) int { return len(m.Text()) })
	if !ok {
		t.Fatal("no cut")
	}
	if d := cmp.Diff([]string{"src/old_file.go"}, s.Needed); d != "" {
		t.Error(d)
	}
	if len(s.Pinned) != 1 || len(s.Recent) != 6 || len(s.Evicted) != 3 {
		t.Errorf("pinned %d recent %d evicted %d", len(s.Pinned), len(s.Recent), len(s.Evicted))
	}
	if n := s.InView(""); n != 0 {
		t.Errorf("%d in view without a summary", n)
	}
	if n := s.InView("- read src/old_file.go"); n != 1 {
		t.Errorf("%d in view with the path", n)
	}
}

func TestCutWantsASessionThatGoesOn(t *testing.T) {
	msgs := []message.Message{message.User("a"), message.Assistant(strings.Repeat("x", 2000))}
	if _, ok := Cut(Session{Messages: msgs}, 1000, func(m message.Message) int { return len(m.Text()) }); ok {
		t.Error("a session that ends at the cut was accepted")
	}
	if _, ok := Cut(Session{Messages: msgs}, 1_000_000, func(m message.Message) int { return len(m.Text()) }); ok {
		t.Error("a session that never fills the window was accepted")
	}
}

func TestRunRefusesAnUnknownStrategy(t *testing.T) {
	if _, err := Run(context.Background(), nil, Options{Strategies: []string{"poem"}, Count: func(string) int { return 1 }}); err == nil {
		t.Error("no error")
	}
}

// sessions reads the recorded sessions. The source is what their names begin
// with: recorder and project.
func sessions(t testing.TB) []Session {
	t.Helper()
	var out []Session
	for name, data := range corpus.Sessions(t, "chat") {
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		parts := strings.SplitN(name, "-", 3)
		out = append(out, Session{Name: name, Source: strings.Join(parts[:min(2, len(parts))], "-"), Messages: msgs})
	}
	return out
}

// The figures of the project: what a summary of the extractive backend keeps
// of what recorded sessions needed later.
func TestFutureNeedRecallOfTheExtractiveSummary(t *testing.T) {
	c, err := token.ForModel("gpt-4")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Count: c.Count}
	if testing.Short() {
		o.Strategies = []string{"task_state"}
	}
	report, err := Run(context.Background(), sessions(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		if err := report.Write(os.Stdout); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []float64{0.90, 0.80, 0.88} {
		s := Settings()[i]
		row, ok := report.Total(s, strategy.TaskState.Name)
		if !ok {
			t.Fatalf("%v: no session", s)
		}
		if row.Recall() < want {
			t.Errorf("%v: recall %.1f %%, want %.0f %%", s, 100*row.Recall(), 100*want)
		}
		if got := row.Retention / float64(row.Sessions); got < 0.9 {
			t.Errorf("%v: retention %.1f %%", s, 100*got)
		}
		if row.Invented > 0 {
			t.Errorf("%v: %d invented identifiers", s, row.Invented)
		}
	}
}
