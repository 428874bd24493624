package summarize

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// extracted returns the summary that the strategy task_state makes of messages.
func extracted(t *testing.T, msgs []message.Message) string {
	t.Helper()
	d, err := strategy.Extractive{}.Summarize(t.Context(), strategy.Request{Strategy: builtIn("task_state"), Messages: msgs, First: 1, MaxTokens: 500, Count: quarter})
	if err != nil {
		t.Fatal(err)
	}
	return d.Text
}

func quarter(s string) int { return (len(s) + 3) / 4 }

const hidden = "[observation masked — 4200 chars]"

// masked returns a view in which an earlier run masked a result.
func masked(text string) *policy.View {
	return view([]message.Message{
		message.User("Run the tests, please."),
		message.Assistant("", message.Call("1", "bash", `{"command":"go test ./a"}`)),
		message.ToolResult("1", text),
		message.User("Go on."),
	}, 6000)
}

func TestMaskedResultIsReadFromArchive(t *testing.T) {
	v := masked(hidden)
	v.Origins = func(i, p int) (policy.Origin, bool) { return policy.Origin{Chars: 4200, Ref: "3f9a2c1b70de"}, i == 2 }
	v.Messages[2].Protected = true
	m := restored(v, 2, func(ref string) (string, bool) { return "Exit code 1\n--- FAIL: TestA", ref != "" })
	if got := m.ResultText(); got != "Exit code 1\n--- FAIL: TestA" || !m.Protected {
		t.Errorf("%q, protected %v", got, m.Protected)
	}
	if v.Messages[2].ResultText() != hidden {
		t.Error("the view was modified")
	}
}

func TestSummaryOmitsUnrestoredResult(t *testing.T) {
	for _, text := range []string{hidden, "[truncated: kept first ~8000 of ~52000 tokens (head)]"} {
		v := masked(text)
		var msgs []message.Message
		for i := range v.Messages {
			msgs = append(msgs, restored(v, i, nil))
		}
		summary := extracted(t, msgs)
		for _, not := range []string{"masked", "4200", "truncated", "8000", "passed", "failed"} {
			if strings.Contains(summary, not) {
				t.Errorf("%q is in:\n%s", not, summary)
			}
		}
	}
}

// If the archive can't be read, a placeholder of this program still states the outcome of
// the tests. A placeholder in the result of a tool states nothing.
func TestPlaceholderStatesOutcomeOfUnrestoredResult(t *testing.T) {
	const head = `[observation masked — 4200 chars · bash "go test ./a"`
	for _, c := range []struct{ text, want string }{
		{head + ` · says "--- FAIL: TestA (0.00s)" · exit 0 · recall 3f9a2c1b70de]`, "--- FAIL: TestA (0.00s)\n[exit code: 0]"},
		{head + ` · says "ok a 0.1s"]`, "ok a 0.1s"},
		{head + ` · exit 1]`, "[exit code: 1]"},
		{head + `]`, ""},
		{hidden, ""},
	} {
		v := masked(c.text)
		if got := restored(v, 2, nil).ResultText(); got != "" {
			t.Errorf("placeholder in a tool's result: %q", got)
		}
		v.Origins = func(i, p int) (policy.Origin, bool) { return policy.Origin{Chars: 4200, Ref: "3f9a2c1b70de"}, i == 2 }
		m := restored(v, 2, func(string) (string, bool) { return "", false })
		if got := m.ResultText(); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	v := masked(head + ` · says "--- FAIL: TestA (0.00s)" · exit 0]`)
	v.Origins = func(i, p int) (policy.Origin, bool) { return policy.Origin{Chars: 4200}, i == 2 }
	msgs := []message.Message{v.Messages[0], v.Messages[1], restored(v, 2, nil), v.Messages[3]}
	if text := extracted(t, msgs); !strings.Contains(text, "--- FAIL: TestA (0.00s)") || strings.Contains(text, "passed") {
		t.Error(text)
	}
}

// A summary that quotes invalid bytes could not be stored unchanged, and no other process
// would make the same view.
func TestSummariesContainOnlyValidUTF8(t *testing.T) {
	msgs := session(20)
	for i := range msgs {
		if msgs[i].IsUser() {
			msgs[i] = message.User("Make a\xff\xfe.go pass. " + msgs[i].Text())
		}
	}
	msgs[2] = message.Assistant("I look at it.", message.Part{Kind: message.KindToolCall, CallID: "9", Name: "ba\xffsh", Args: []byte("{\"command\":\"cat b\xff.go\"}")})
	msgs[3] = message.ToolResult("9", "b\xff.go:1: error: no such thing")
	v := view(msgs, 3000)
	p, err := stage(t, Writer{}).Propose(t.Context(), v)
	if err != nil || p.Summary == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	if text := p.Summary.Text; !utf8.ValidString(text) || !strings.Contains(text, "Make a\uFFFD.go pass.") {
		t.Errorf("%q", text)
	}
	own := stage(t, Writer{Summarizer: unusableSummarizer{}})
	c := own.cut(v)
	p, err = own.proposeOf(c, func(*cut) (Summary, error) { return Summary{Text: "a\xffb"}, nil }, t.Context().Err)
	if err != nil || p.Summary == nil || !strings.Contains(p.Summary.Text, "\nab\n") {
		t.Errorf("%+v, %v", p.Summary, err)
	}
}

func TestPruningKeepsTypedMessages(t *testing.T) {
	msgs := session(20)
	msgs = append(msgs[:8:8], append([]message.Message{message.User("Call the flag --dry, not --check."), message.Assistant("All right.")}, msgs[8:]...)...)
	v := view(msgs, 3000)
	s := stage(t, Writer{Summarizer: unusableSummarizer{}})
	p, err := s.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	if p.Summary == nil || p.Summary.Fallback != FallbackPruning {
		t.Fatalf("%+v", p.Summary)
	}
	out := ""
	for _, m := range apply(t, v, p) {
		out += m.Text() + "\n"
	}
	for _, want := range []string{"Call the flag --dry, not --check.", "Fix the failing import", "messages omitted"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "All right.") {
		t.Errorf("words of the assistant stay:\n%s", out)
	}
}

// The typed messages that pruning keeps share one limit: the newest stay, the older ones go.
func TestPruningKeepsTheNewestTypedMessagesWithinTheLimit(t *testing.T) {
	msgs := session(20)
	word := func(i int) string { return fmt.Sprintf("Wish %d: ", i) + strings.Repeat("call the flag --dry. ", 20) }
	for i := range 12 {
		msgs = slices.Insert(msgs, 2+4*i, message.User(word(i)), message.Assistant("All right."))
	}
	v := view(msgs, 4000)
	s := stage(t, Writer{Summarizer: unusableSummarizer{}})
	p, err := s.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	left := apply(t, v, p)
	stays, tokens := "", 0
	for i := range 12 {
		at := slices.IndexFunc(left, func(m message.Message) bool { return m.Text() == word(i) })
		if at < 0 && stays != "" {
			t.Errorf("wish %d is gone, but an older one stays (%s)", i, stays)
		}
		if at >= 0 {
			stays += fmt.Sprint(i, " ")
			tokens += v.Cost.Message(left[at])
		}
	}
	if limit := s.userTokens(v); stays == "" || tokens > limit {
		t.Errorf("%d tokens of typed messages stay (%s), the limit is %d", tokens, stays, limit)
	}
}

// If agents act in their text, a patch in the next message of role user is the output
// of the action, and no user typed it.
func TestPruningRemovesOutputOfCommandInText(t *testing.T) {
	msgs := []message.Message{message.System("You are a coding agent."), message.User("Fix the failing import.")}
	for i := range 20 {
		msgs = append(msgs, message.Assistant("I look.\n```bash\ngit diff\n```"), message.User("diff --git a/a.go b/a.go\n"+strings.Repeat("+it prints this\n", 45)))
		if i == 4 {
			msgs = append(msgs, message.Assistant("It is b.go, too."), message.User("Leave b.go alone."))
		}
	}
	v := view(msgs, 4000)
	p, err := stage(t, Writer{Summarizer: unusableSummarizer{}, UserTokens: 1000}).Propose(t.Context(), v)
	if err != nil || p.Summary == nil || p.Summary.Fallback != FallbackPruning {
		t.Fatalf("%+v, %v", p.Summary, err)
	}
	printed, typed := 0, false
	cut := p.Groups[0][0].Cut
	for i, m := range v.Messages[:cut.Recent] {
		switch {
		case slices.Contains(cut.Removed, i):
		case strings.HasPrefix(m.Text(), "diff"):
			printed++
		case m.Text() == "Leave b.go alone.":
			typed = true
		}
	}
	if printed > 0 || !typed {
		t.Errorf("%d printed texts stay; typed text stays: %v", printed, typed)
	}
}

// After a failed summary, the later stages can make the view fit: the earlier summary, the
// typed messages and the notice share the room that exists.
func TestPrunedViewFitsTheBudget(t *testing.T) {
	msgs := session(12)
	msgs[0] = message.System(strings.Repeat("You are a coding agent. ", 600)) // makes the view large, because the user's words get a share of the view's size
	typed := message.User("Call the flag --dry, not --check, in each of the commands that the loader has, and say so in the help.")
	msgs = slices.Insert(msgs, 10, typed, message.Assistant("All right."))
	msgs = slices.Insert(msgs, 1, policy.NewSummary(3, "## Decisions\n"+strings.Repeat("- the loader keeps its rows in order\n", 30)))
	s := stage(t, Writer{Summarizer: unusableSummarizer{}})
	whole := view(msgs, 1<<20)
	floor := whole.Without(s.Takes(whole))
	var old, words, notices int
	step := 21
	if samples.All() {
		step = 7
	}
	for limit := floor; limit < whole.Total(); limit += step {
		v := view(msgs, limit)
		p, err := s.Propose(t.Context(), v)
		if err != nil || len(p.Groups) != 1 {
			t.Fatalf("limit %d: %d groups, %v", limit, len(p.Groups), err)
		}
		left := view(apply(t, v, p), limit)
		if least := left.Without(nil); least > limit {
			t.Fatalf("limit %d: at least %d tokens are left, want at most %d", limit, least, floor)
		}
		notice := false
		for _, m := range left.Messages {
			switch {
			case policy.IsSummary(m):
				old++
			case isNotice(m):
				notice = true
				notices++
				if n, _ := policy.ParseNotice(m); n != len(msgs)-len(left.Messages)+1 { // a summary counts as one message
					t.Fatalf("limit %d: the notice says that %d messages are missing, of %d there are %d", limit, n, len(msgs), len(left.Messages)-1)
				}
			case m.Text() == typed.Text():
				words++
			}
		}
		if cost := v.Cost.Message(policy.NewNotice(len(msgs))); !notice && limit >= floor+cost {
			t.Fatalf("limit %d: no text says that messages are missing", limit)
		}
	}
	if old == 0 || words == 0 || notices == 0 {
		t.Errorf("the summary stayed %d times, the words %d times, a notice appeared %d times", old, words, notices)
	}
}

// The room for a summary includes the room that squeeze can make.
func TestSummaryUsesRoomThatSqueezeMakes(t *testing.T) {
	msgs := session(12)
	msgs[len(msgs)-3] = message.ToolResult("call_11", strings.Repeat("row of the table\n", 400))
	s := stage(t, Writer{})
	whole := view(msgs, 1<<20)
	floor := whole.Without(s.Takes(whole))
	tags := whole.Cost.Message(policy.NewSummary(1, "")) + seams
	for limit := floor + minSummary + tags + exact; limit < whole.Total(); limit += 3 {
		v := view(msgs, limit)
		if c := s.cut(v); c != nil && c.limit < minSummary && c.tokens > minSummary+tags {
			t.Fatalf("limit %d: room for %d tokens of %d", limit, c.limit, limit-floor)
		}
	}
}

// unusableSummarizer is a Summarizer with an unusable answer.
type unusableSummarizer struct{}

func (unusableSummarizer) Summarize(context.Context, strategy.Request) (strategy.Draft, error) {
	return strategy.Draft{Text: "no"}, nil
}
