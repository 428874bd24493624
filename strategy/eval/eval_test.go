package eval

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
)

func TestSplitFollowsTheDefinition(t *testing.T) {
	msgs := []message.Message{
		message.System("policy_rule"),
		message.User("look at src/old_file.go and 4711"),
		message.User("go on"), // the last user message stays
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
	if len(s.Pinned) != 1 || len(s.Recent) != 7 || len(s.Evicted) != 2 {
		t.Errorf("pinned %d recent %d evicted %d, want 1, 7 and 2", len(s.Pinned), len(s.Recent), len(s.Evicted))
	}
	if n := s.InView(""); n != 0 {
		t.Errorf("%d in view without a summary, want 0", n)
	}
	if n := s.InView("- read src/old_file.go"); n != 1 {
		t.Errorf("%d in view with the path, want 1", n)
	}
}

func TestCutComesWhereTheShareIsExceeded(t *testing.T) {
	msgs := make([]message.Message, 100)
	for i := range msgs {
		msgs[i] = message.Assistant("x")
	}
	s, ok := Cut(Session{Messages: msgs}, 100, func(message.Message) int { return 1 })
	if !ok || len(s.After) != 14 || len(s.Recent) != 6 {
		t.Errorf("%d messages after the cut, %d recent, %v; want 14 and 6", len(s.After), len(s.Recent), ok)
	}
}

func TestCutRequiresMessagesAfterTheCut(t *testing.T) {
	msgs := []message.Message{message.User("a"), message.Assistant(strings.Repeat("x", 2000))}
	if _, ok := Cut(Session{Messages: msgs}, 1000, func(m message.Message) int { return len(m.Text()) }); ok {
		t.Error("a session that ends at the cut was accepted")
	}
	if _, ok := Cut(Session{Messages: msgs}, 1_000_000, func(m message.Message) int { return len(m.Text()) }); ok {
		t.Error("a session that never fills the window was accepted")
	}
}

func TestRunRefusesAnUnknownReading(t *testing.T) {
	_, err := Run(context.Background(), nil, Options{Reading: "tea-leaves", Count: func(string) int { return 1 }})
	if err == nil || !strings.Contains(err.Error(), "tea-leaves") || !strings.Contains(err.Error(), ReadingLiteral) {
		t.Errorf("error %v, want one that names tea-leaves and the readings", err)
	}
}

func TestRunRefusesAnUnknownStrategy(t *testing.T) {
	if _, err := Run(context.Background(), nil, Options{Strategies: []string{"poem"}, Count: func(string) int { return 1 }}); err == nil {
		t.Error("no error")
	}
}

// sessions reads every n-th recorded session, and all sessions with COMPACT_SOAK=1. The
// source of a session is the beginning of its name: recorder and project.
func sessions(t testing.TB, n int) []Session {
	t.Helper()
	var out []Session
	i := 0
	for name, data := range corpus.Some(t, "chat", func() bool { i++; return i%n == 1 || os.Getenv("COMPACT_SOAK") != "" }) {
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		parts := strings.SplitN(name, "-", 3)
		out = append(out, Session{Name: name, Source: strings.Join(parts[:min(2, len(parts))], "-"), Messages: msgs})
	}
	return out
}

// The test measures the figures of the project: the facts that a summary of the extractive
// backend states about recorded sessions. With -v, it prints the whole report.
func TestExtractiveSummaryStatesFacts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute over recorded sessions; run without -short")
	}
	c, err := token.ForModel("gpt-4")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Count: c.Count}
	if !testing.Verbose() {
		o.Strategies = []string{"task_state"} // the other strategies have no bounds
	}
	n := 2
	if !samples.All() {
		n = 4 // with fewer sessions, the shares depend more on the sample than on the summaries
	}
	report, err := Run(context.Background(), sessions(t, n), o)
	if err != nil {
		t.Fatal(err)
	}
	if testing.Verbose() {
		if err := report.Write(os.Stdout); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, report, true)
}

// holds checks a report against the bounds of the project: the bounds that depend on the
// reading of names and, if the parameter all is true, also the bounds of the stated
// facts.
func holds(t *testing.T, report Report, all bool) {
	t.Helper()
	for _, s := range Settings() {
		row, ok := report.Total(s, "task_state")
		if !ok {
			t.Fatalf("%v: no session", s)
		}
		t.Logf("%v: %d sessions: %+v", s, row.Sessions, row.Handoff)
		for _, b := range []struct {
			what        string
			told        bool
			n, of       int
			least, most float64
		}{
			{"user", true, row.User, row.UserOf, 0.97, 1},
			{"sessions whose words fit", true, row.Fitting, row.FittingOf, 1, 1},
			{"failed", true, row.Failed, row.FailedOf, 0.9, 1},
			{"changed", true, row.Changed, row.ChangedOf, 0.98, 1},
			{"lists of names", true, row.Bag, row.Chars, 0, 0.2},
			{"false statements", true, row.False, row.Stated, 0, 0.1},
			{"names anywhere", false, row.Anywhere, row.Needed, 0.6, 1}, // excerpts of code raised it, and readers called them filler
		} {
			if got := share(b.n, b.of); (all || !b.told) && (got < b.least || got > b.most) {
				t.Errorf("%v: %s %.1f %%, want %.0f–%.0f %%", s, b.what, 100*got, 100*b.least, 100*b.most)
			}
		}
		if row.Missing > 0 {
			t.Errorf("%v: %d summaries missing, want none", s, row.Missing)
		}
	}
}

// loop returns a session that fills a window of 8,000 tokens and continues.
func loop(name string) Session {
	msgs := []message.Message{message.User("repair src/broken_part.go and count to 4711")}
	for i := range 40 {
		id := strings.Repeat("c", i+1)
		msgs = append(msgs, message.Assistant("step "+strings.Repeat("word ", 60), message.Call(id, "read", `{"path":"src/broken_part.go"}`)), message.ToolResult(id, strings.Repeat("line ", 200)))
	}
	for range 8 {
		msgs = append(msgs, message.Assistant("thinking "+strings.Repeat("hard ", 40)))
	}
	return Session{Name: name, Source: "loop", Messages: append(msgs, message.Assistant("back to src/broken_part.go and 4711"))}
}

func TestRunReportsBaselinesStrategiesAndSources(t *testing.T) {
	done := 0
	o := Options{
		Settings: []Setting{{8000, 300, 200}}, Strategies: []string{"task_state", "brief"}, Count: func(s string) int { return len(s) / 4 },
		Progress: func(n, of int) { done = n*10 + of },
	}
	a, b := loop("a"), loop("b")
	b.Source = "other"
	report, err := Run(context.Background(), []Session{a, b}, o)
	if err != nil {
		t.Fatal(err)
	}
	if done != 22 {
		t.Errorf("%d reports of progress, want 22", done)
	}
	var names []string
	for _, r := range report.Rows {
		names = append(names, r.Source+": "+r.Name)
	}
	want := []string{"loop: drop", "loop: mask", "loop: bare list", "loop: task_state", "loop: brief",
		"other: drop", "other: mask", "other: bare list", "other: task_state", "other: brief"}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	row, ok := report.Total(o.Settings[0], "task_state")
	if !ok || row.Sessions != 2 || row.Recall() != 1 || row.Invented != 0 || row.Tokens > 600 {
		t.Errorf("row %+v, want 2 sessions, recall 1, no invention and at most 600 tokens", row)
	}
	var out strings.Builder
	if err := report.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"8k/300", "task_state", "By source", "100.0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, out.String())
		}
	}
}

func TestRunCountsFailedSummaryAsMissing(t *testing.T) {
	o := Options{Settings: []Setting{{8000, 300, 200}}, Strategies: []string{"brief"}, Count: func(s string) int { return len(s) / 4 }, Summarizer: broken{}}
	report, err := Run(context.Background(), []Session{loop("a")}, o)
	if err != nil {
		t.Fatal(err)
	}
	if row, _ := report.Total(o.Settings[0], "brief"); row.Missing != 1 || row.Tokens != 0 {
		t.Errorf("row %+v, want 1 missing summary and no tokens", row)
	}
}

type broken struct{}

func (broken) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRejected}
}

func TestRunReturnsContextError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, []Session{loop("a")}, Options{Settings: []Setting{{8000, 300, 200}}, Count: func(s string) int { return len(s) / 4 }}); err != context.Canceled {
		t.Errorf("error %v, want the error of the context", err)
	}
}

func TestEmptyReportStatesThatItIsEmpty(t *testing.T) {
	var out strings.Builder
	if err := (Report{}).Write(&out); err != nil || !strings.Contains(out.String(), "no session fills a window") {
		t.Errorf("%v: %s, want no error and text with %q", err, out.String(), "no session fills a window")
	}
}

func TestInventedIdentifiersAreCounted(t *testing.T) {
	s, ok := Cut(loop("a"), 8000, func(m message.Message) int { return len(m.Text())/4 + len(m.ResultText())/4 + 10 })
	if !ok {
		t.Fatal("no cut")
	}
	if n := invented("- src/broken_part.go, broken_part.go and ghost_part.go with 99999", &s); n != 2 {
		t.Errorf("%d invented, want 2", n)
	}
}
