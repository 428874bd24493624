package tidy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
)

// wordCost counts one token per word and two per message.
type wordCost struct{}

func (wordCost) Text(s string) int { return len(strings.Fields(s)) }

func (c wordCost) Message(m message.Message) int {
	n := 2
	for i := range m.Parts {
		n += c.Text(m.Parts[i].Text)
	}
	return n
}

// numbered returns different lines of ten words.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d of the lines that a tool printed, all different\n", i)
	}
	return b.String()
}

func arrived(texts ...string) *policy.View {
	var calls []message.Part
	answer := message.Message{Role: message.RoleTool}
	for i, text := range texts {
		id := fmt.Sprint("c", i)
		calls = append(calls, message.Call(id, "bash", fmt.Sprintf(`{"command":"make part%d"}`, i)))
		answer.Parts = append(answer.Parts, message.ToolResult(id, text).Parts...)
	}
	return policy.NewView([]message.Message{message.User("go"), message.Assistant("", calls...), answer}, nil, wordCost{})
}

func proposed(t *testing.T, v *policy.View) [][]policy.Edit {
	t.Helper()
	p, err := tidy.Stage{Options: tidy.Options{Large: 2000}}.Propose(t.Context(), v)
	if err != nil || len(p.Failed) > 0 {
		t.Fatalf("error %v, failed parts %v, want none", err, p.Failed)
	}
	return p.Groups
}

// Some providers require all results of a turn in one message. The size of each result
// counts by itself: otherwise small results would lose lines because several came at once.
func TestStageMeasuresEachResultOfAMessage(t *testing.T) {
	small, large := numbered(150), numbered(400)
	for _, c := range []struct {
		name  string
		texts []string
		want  int
	}{
		{"a small one", []string{small}, 0},
		{"three small ones, large together", []string{small, small + "x", small + "y"}, 0},
		{"a large one among small ones", []string{small, large, small + "x"}, 1},
		{"two large ones", []string{large, large + "x"}, 2},
	} {
		if got := proposed(t, arrived(c.texts...)); len(got) != c.want {
			t.Errorf("%s: %d are reduced, want %d", c.name, len(got), c.want)
		}
	}
}

// The log and the counts of reducers state how much is left of a result.
func TestMarkStatesTheRemainingTokens(t *testing.T) {
	v := arrived(numbered(400))
	groups := proposed(t, v)
	if len(groups) != 1 {
		t.Fatalf("%d groups, want 1", len(groups))
	}
	c, err := reduce.NewConversation(v.Messages, nil, nil).Apply(groups[0])
	if err != nil {
		t.Fatal(err)
	}
	text := c.Messages()[2].ResultText()
	for _, s := range groups[0][0].Text.Segments {
		if k := s.Mark; k != nil && (k.Chars != len(v.Messages[2].ResultText()) || k.Ref != v.RefOf(&v.Messages[2].Parts[0])) {
			t.Errorf("the mark states %d characters and the reference %q", k.Chars, k.Ref)
		}
		if k := s.Mark; k != nil && (k.Tokens != v.Cost.Text(v.Messages[2].ResultText()) || k.Kept != v.Cost.Text(text)) {
			t.Errorf("%d of %d tokens are left, but the mark states %d of %d", v.Cost.Text(text), v.Cost.Text(v.Messages[2].ResultText()), k.Kept, k.Tokens)
		}
	}
}

// A command that runs again at once requests the parts that were left out, as does a
// command that runs later and prints as much as before. Any other run has a new result.
func TestBeforeRecognizesRepeatedCommands(t *testing.T) {
	const original = 9000
	reduced := "[tidied — head and tail, 90 of 99 lines left out · ~900 tokens in full]\nwords"
	for _, c := range []struct {
		name    string
		between int // turns between the two runs
		size    int // size of the new result
		again   bool
	}{
		{"at once", 0, 300, true},
		{"at once, the full size", 0, original, true},
		{"a turn later", 1, 300, false},
		{"a turn later, the full size", 1, original, true},
		{"three turns later, one character too many", 3, original + 1, false},
		{"three turns later, the full size", 3, original, true},
	} {
		call := func(id, command string) message.Message {
			return message.Assistant("", message.Call(id, "bash", `{"command":"`+command+`"}`))
		}
		msgs := []message.Message{message.User("go"), call("a", "make test"), message.ToolResult("a", reduced)}
		for i := range c.between {
			msgs = append(msgs, call(fmt.Sprint("b", i), "ls"), message.ToolResult(fmt.Sprint("b", i), "a.go"))
		}
		msgs = append(msgs, call("z", "make test"), message.ToolResult("z", strings.Repeat("é", c.size)))
		v := policy.NewView(msgs, nil, wordCost{})
		v.Origins = func(i, _ int) (policy.Origin, bool) { return policy.Origin{Chars: original}, i == 2 }
		want := -1
		if c.again {
			want = 2
		}
		if k, first := tidy.Before(v, len(msgs)-1, 0); k != want || first != c.again {
			t.Errorf("%s: message %d, first %v; want %d", c.name, k, first, want)
		}
	}
}

// If a call without an answer has already sent a result, the provider's cache holds the
// result unchanged.
func TestStageKeepsSentResults(t *testing.T) {
	for _, sent := range []bool{false, true} {
		v := arrived(numbered(400))
		v.Sent = func(*message.Message) bool { return sent }
		if got := proposed(t, v); (len(got) == 0) != sent {
			t.Errorf("sent is %v: %d results are reduced", sent, len(got))
		}
	}
}

// A large result from which nothing can be left out stays whole: no reducer of another kind
// cuts its middle, and no reducer removes a few lines for a saving that is too small.
func TestReduceKeepsLargeResultsWithLittleToRemove(t *testing.T) {
	var errs strings.Builder
	for i := range 400 {
		if i%8 == 7 {
			fmt.Fprintf(&errs, "2026-01-02 10:00:%02d INFO request %d was served in %d ms, as all requests of this hour were\n", i%60, i, i*3)
			continue
		}
		fmt.Fprintf(&errs, "2026-01-02 10:00:%02d ERROR request %d: error: no space left on disk %d\n", i%60, i, i*7)
	}
	object := func(n int, value func(i int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ", \"key%d\": %s", i, value(i))
		}
		return "{" + b.String()[2:] + "}"
	}
	json := object(18, func(i int) string {
		return object(18, func(k int) string { return fmt.Sprintf("%q", fmt.Sprintf("value %d of the object number %d", k, i)) })
	})
	for name, text := range map[string]string{"errors": errs.String(), "an object": json, "an object on lines": strings.ReplaceAll(json, ", ", ",\n")} {
		if out, ok := tidy.Reduce(&tidy.Result{Text: text, Call: tidy.Call{Tool: "query", Args: []byte(`{}`)}, Tokens: len(text) / 4}, tidy.Options{}); ok {
			t.Errorf("%s of %d bytes: %s, by %v", name, len(text), out.What, out.By)
		}
	}
}

// Runs does not count lines again that already have a count: "x × 5 × 3" has no meaning.
func TestRunsKeepsCountedLines(t *testing.T) {
	line := "waiting for the lock of the database"
	text := strings.Repeat(line+" × 5\n", 6) + strings.Repeat(line+"\n", 20)
	out, ok := tidy.Reduce(&tidy.Result{Text: text, Call: tidy.Call{Tool: "bash", Args: []byte(`{"command":"make"}`)}, Tokens: 100}, tidy.Options{})
	want := strings.Repeat(line+" × 5\n", 6) + line + " × 20\n"
	if got := out.Render(text, 100, "0123456789ab"); !ok || got != want {
		t.Errorf("%v: %q, want true and %q", ok, got, want)
	}
}

// The output of a command is not compared with its earlier output: unlike a file, it is an
// outcome, and the model reads it as a whole.
func TestReduceKeepsRepeatedCommandOutputWhole(t *testing.T) {
	before := numbered(60)
	after := strings.Replace(before, "30 of the lines", "another of the lines", 1)
	for command, whole := range map[string]bool{"make check": true, "cat notes.txt": false} {
		call := tidy.Call{Tool: "bash", Args: []byte(`{"command":"` + command + `"}`)}
		_, ok := tidy.Reduce(&tidy.Result{Text: after, Call: call, Tokens: 600, Earlier: []tidy.Earlier{{Text: before, Call: call, Ref: "0123456789ab"}}}, tidy.Options{})
		if ok == whole {
			t.Errorf("%s: reduced is %v", command, ok)
		}
	}
}

// twice returns a view with two equal calls. The second result has just arrived.
func twice(text string) *policy.View {
	call := func(id string) message.Message {
		return message.Assistant("", message.Call(id, "query", `{"of":"all"}`))
	}
	return policy.NewView([]message.Message{message.User("go"), call("a"), message.ToolResult("a", text), call("b"), message.ToolResult("b", text)}, nil, wordCost{})
}

// A note about an earlier result is useful only if the view shows that result. An edited
// result is missing or incomplete.
func TestStageReplacesARepeatedResultOnlyIfTheViewShowsTheFirst(t *testing.T) {
	for _, edited := range []bool{false, true} {
		v := twice(numbered(60))
		v.Origins = func(i, _ int) (policy.Origin, bool) {
			return policy.Origin{Chars: 9_000, Tokens: 900}, edited && i == 2
		}
		if got := proposed(t, v); (len(got) == 0) != edited {
			t.Errorf("edited is %v: %d results are reduced", edited, len(got))
		}
	}
}

// The first line of a reduced result has a reference only if the model can recall it.
func TestStageAddsAReferenceOnlyWithRecall(t *testing.T) {
	for _, can := range []bool{false, true} {
		v := arrived(numbered(400))
		v.Recall = can
		groups := proposed(t, v)
		if len(groups) != 1 {
			t.Fatalf("%d groups, want 1", len(groups))
		}
		c, err := reduce.NewConversation(v.Messages, nil, nil).Apply(groups[0])
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(c.Messages()[2].ResultText(), "\n")
		if strings.Contains(first, "recall ") != can || !strings.HasPrefix(first, "[tidied — ") {
			t.Errorf("recall %v: %q, want text that begins with %q", can, first, "[tidied — ")
		}
	}
}

// The stage keeps the lines that the user asked for, even after a summary that the wire
// format holds as a user message.
func TestStageIgnoresSummariesAsRequests(t *testing.T) {
	summary := policy.NewSummary(1, "We looked at other_names and at more_names.")
	summary.Role = message.RoleUser
	text := strings.Replace(numbered(400), "200 of the lines", "200 of needle_name", 1)
	v := policy.NewView([]message.Message{
		message.User("Look for needle_name."), message.User("Go on."), summary,
		message.Assistant("", message.Call("a", "query", "{}")), message.ToolResult("a", text),
	}, nil, wordCost{})
	groups := proposed(t, v)
	if len(groups) != 1 {
		t.Fatalf("%d groups, want 1", len(groups))
	}
	c, err := reduce.NewConversation(v.Messages, nil, nil).Apply(groups[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Messages()[4].ResultText(); !strings.Contains(got, "200 of needle_name") {
		t.Errorf("the line is left out: %.300q", got)
	}
}

// The stage does not change results of pinned messages and results that were edited
// before.
func TestStageKeepsPinnedAndEditedResults(t *testing.T) {
	for name, c := range map[string]struct {
		change func(v *policy.View)
		want   int
	}{
		"a new one": {func(*policy.View) {}, 1},
		"pinned":    {func(v *policy.View) { v.Pinned[2] = true }, 0},
		"edited": {func(v *policy.View) {
			v.Origins = func(int, int) (policy.Origin, bool) { return policy.Origin{Chars: 50_000}, true }
		}, 0},
	} {
		v := arrived(numbered(400))
		c.change(v)
		if got := proposed(t, v); len(got) != c.want {
			t.Errorf("%s: %d results are reduced, want %d", name, len(got), c.want)
		}
	}
}

// If nothing is left out of a result, the result has no first line about it. The stage
// records its origin nevertheless.
func TestStageAddsNoFirstLineIfNothingIsLeftOut(t *testing.T) {
	for _, can := range []bool{false, true} {
		plain := numbered(30)
		v := arrived(strings.ReplaceAll(plain, "lines", "\x1b[31mlines \x1b[0m\r\x1b[32m30 of the lines\x1b[0m"))
		v.Recall = can
		groups := proposed(t, v)
		if len(groups) != 1 {
			t.Fatalf("%d groups, want 1", len(groups))
		}
		c, err := reduce.NewConversation(v.Messages, nil, nil).Apply(groups[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Messages()[2].ResultText(); strings.Contains(got, "tidied") || !strings.HasPrefix(got, "30 of the lines that a tool") {
			t.Errorf("recall %v: %.80q, want text without %q and text that begins with %q", can, got, "tidied", "30 of the lines that a tool")
		}
		if o, ok := c.Origin(2, 0); !ok || o.Ref == "" || o.Chars == 0 || o.Masked {
			t.Errorf("recall %v: the origin is %+v, %v, want true", can, o, ok)
		}
	}
}

// If several calls request a reduced result again, the first call counts.
func TestBeforeReportsTheFirstRepetition(t *testing.T) {
	read := func(id, file string) message.Message {
		return message.Assistant("", message.Call(id, "Read", `{"file_path":"`+file+`"}`))
	}
	msgs := []message.Message{
		message.User("go"),
		read("a", "/a.go"), message.ToolResult("a", "[tidied — outline, 90 of 99 lines left out · ~900 tokens in full]\nwords"),
		read("b", "/b.go"), message.ToolResult("b", "package b"),
		read("c", "/a.go"), message.ToolResult("c", "package a"),
		read("d", "/a.go"), message.ToolResult("d", "package a"),
	}
	v := policy.NewView(msgs, nil, wordCost{})
	for i, want := range map[int]struct {
		k     int
		first bool
	}{2: {-1, false}, 4: {-1, false}, 6: {2, true}, 8: {2, false}} {
		if k, first := tidy.Before(v, i, 0); k != want.k || first != want.first {
			t.Errorf("message %d repeats message %d, first is %v; want %+v", i, k, first, want)
		}
	}
}
