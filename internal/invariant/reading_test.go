package invariant

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/agentcompact/compact/message"
)

func ask(ids ...string) message.Message {
	var calls []message.Part
	for _, id := range ids {
		calls = append(calls, message.Call(id, "tool", `{}`))
	}
	return message.Assistant("", calls...)
}

func answer(id string) message.Message { return message.ToolResult(id, "result of "+id) }

// parts returns one answer in two parts.
func parts(id string) message.Message {
	m := answer(id)
	m.Parts = append(m.Parts, m.Parts[0])
	return m
}

func TestRoundsAreIndivisible(t *testing.T) {
	user, said := message.User("u"), message.Assistant("a")
	refer := message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindOther, Sealed: true}}}
	for _, c := range []struct {
		name string
		msgs []message.Message
		want []int // round of each message
	}{
		{"plain", []message.Message{user, said, user}, []int{0, 1, 2}},
		{"parallel calls", []message.Message{ask("1", "2"), answer("2"), answer("1"), said}, []int{0, 0, 0, 1}},
		{"a result without a call", []message.Message{user, answer("9"), said}, []int{0, 1, 2}},
		{"a call without a result", []message.Message{ask("1"), user, said}, []int{0, 1, 2}},
		{"no ids", []message.Message{ask(""), user, ask(""), answer(""), ask("", ""), answer(""), answer("")}, []int{0, 1, 2, 2, 3, 3, 3}},
		{"a late result", []message.Message{ask("1"), user, answer("1"), user}, []int{0, 0, 0, 1}},
		{"late results that cross", []message.Message{ask("1"), ask("2"), answer("1"), answer("2"), user}, []int{0, 0, 0, 0, 1}},
		{"a second answer behind a round that crosses", []message.Message{ask("9"), ask("1"), answer("1"), answer("9"), answer("1"), user}, []int{0, 0, 0, 0, 0, 1}},
		{"an id that is used again", []message.Message{ask("1"), answer("1"), ask("1"), answer("1")}, []int{0, 0, 1, 1}},
		{"an interrupted call whose id is used again", []message.Message{ask("1"), user, ask("1"), answer("1")}, []int{0, 1, 2, 2}},
		{"an id twice in a round", []message.Message{ask("1", "1"), answer("1"), answer("1"), user}, []int{0, 0, 0, 1}},
		{"an answer in two parts beside an old call of its id", []message.Message{ask("1"), user, ask("1"), parts("1")}, []int{0, 1, 2, 2}},
		{"an answer twice", []message.Message{ask("1"), answer("1"), answer("1"), user}, []int{0, 0, 0, 1}},
		{"results of references", []message.Message{refer, answer("1"), answer("2"), said, answer("3")}, []int{0, 0, 0, 1, 2}},
		{"an answer twice, later", []message.Message{ask("1"), answer("1"), user, answer("1")}, []int{0, 0, 1, 2}},
	} {
		if got := read(c.msgs).round; !slices.Equal(got, c.want) {
			t.Errorf("%s: rounds %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTurnsEndWithAnAssistantRound(t *testing.T) {
	summary := message.Assistant("<COMPACT-SUMMARY v1>\nx\n</COMPACT-SUMMARY>")
	msgs := []message.Message{message.System("s"), summary, message.User("u"), ask("1"), answer("1"), ask("2"), answer("2"), message.User("u")}
	r := read(msgs)
	if want := []int{0, 0, 0, 0, 0, 1, 1, 2}; !slices.Equal(r.turn, want) || r.turns != 2 {
		t.Errorf("turns %v of %d, want %v", r.turn, r.turns, want)
	}
	if want := []bool{false, false, false, false, false, true, true, true}; !slices.Equal(r.recent(1, 1), want) {
		t.Errorf("recent %v, want %v", r.recent(1, 1), want)
	}
}

func TestOpenFindsCallsWithoutAnAnswer(t *testing.T) {
	user := message.User("u")
	for _, c := range []struct {
		name string
		msgs []message.Message
		want []bool
	}{
		{"answered", []message.Message{user, ask("1"), answer("1")}, []bool{false, false, false}},
		{"a call that waits", []message.Message{user, ask("1", "2"), answer("1")}, []bool{false, true, true}},
		{"a question", []message.Message{ask("1"), answer("1"), user, user}, []bool{false, false, true, true}},
		{"a call that waits and a question", []message.Message{ask("1"), user}, []bool{true, true}},
		{"an interrupted call before an answer", []message.Message{ask("1"), user, message.Assistant("a")}, []bool{false, false, false}},
		{"nothing", nil, []bool{}},
	} {
		if got := read(c.msgs).open(); !slices.Equal(got, c.want) {
			t.Errorf("%s: open %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAnchorIsTheLastUserMessage(t *testing.T) {
	carrier := message.Message{Role: message.RoleUser, Parts: answer("1").Parts}
	if got := read([]message.Message{message.User("u"), ask("1"), carrier}).anchor; got != 0 {
		t.Errorf("anchor %d, want 0: a message that only has results does not count as a user message", got)
	}
	if got := read([]message.Message{message.System("s")}).anchor; got != -1 {
		t.Errorf("anchor %d, want -1", got)
	}
}

func TestOwnFormsAreRecognizedExactly(t *testing.T) {
	for _, text := range []string{
		"[observation masked — 12 chars]", "[observation masked — 12 chars · recall 0123456789ab]",
		"[result masked — ~12 tokens removed]", "[dispatch output masked — 9 chars]\n" + blockBegin + " it goes on",
		"[dispatch output masked — 0 chars]\n" + dispatch, "[dispatch output masked — 9 chars]\n" + dispatch + "\n" + dispatch,
	} {
		if !wholePlaceholder(text) {
			t.Errorf("%q is a placeholder", text)
		}
	}
	for _, text := range []string{
		"", " [observation masked — 12 chars]", "[observation masked — 012 chars]", "[observation masked — 99999999999999999999 chars]", "[observation masked - 12 chars]",
		"[observation masked — 12 chars]\n", "[observation masked — 12 chars · recall 0123]", "[result masked — ~12 tokens removed].",
		"[dispatch output masked — 0 chars]\n", "[dispatch output masked — 0 chars]\n" + dispatch + " and more", "[dispatch output masked — 0 chars]" + dispatch,
	} {
		if wholePlaceholder(text) {
			t.Errorf("%q only looks like one", text)
		}
	}
	for _, m := range []message.Message{
		message.Assistant("<COMPACT-SUMMARY v0>\nx\n</COMPACT-SUMMARY>"), message.Assistant("<COMPACT-SUMMARY v1>\nx\n</COMPACT-SUMMARY> "),
		message.System("<COMPACT-SUMMARY v1>\nx\n</COMPACT-SUMMARY>"), message.User("[conversation truncated — 3 older messages omitted]"),
	} {
		if ours(m) {
			t.Errorf("%s %q only looks like ours", m.Role, m.Text())
		}
	}
}

// A summary has an exact form: the head, a line feed, the body, a line feed, the end,
// and nothing after it.
func TestSummaryIsParsedByItsForm(t *testing.T) {
	form := regexp.MustCompile(`(?s)\A<COMPACT-SUMMARY v([1-9][0-9]{0,6})>\n(.*)\n</COMPACT-SUMMARY>\z`)
	const head, end = "<COMPACT-SUMMARY v12>\n", "\n</COMPACT-SUMMARY>"
	for _, text := range []string{
		head + "a\nb" + end, head + end, head + "a" + end + end, head + "\n" + end, // these texts are summaries
		"<COMPACT-SUMMARY v12>" + end, head + "a" + end + "\n", head + "a", head, "", " " + head + "a" + end, end,
		"<COMPACT-SUMMARY v0>\na" + end, "<COMPACT-SUMMARY v12345678>\na" + end, "<COMPACT-SUMMARY v1> \na" + end, head + "a</COMPACT-SUMMARY>",
	} {
		want := form.FindStringSubmatch(text)
		version, body, ok := parseSummary(message.Assistant(text))
		if ok != (want != nil) || ok && (fmt.Sprint(version) != want[1] || body != want[2]) {
			t.Errorf("%q: %d, %q, %v, the form says %q", text, version, body, ok, want)
		}
	}
}
