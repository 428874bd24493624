package invariant

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// The facts about a call in a placeholder occur in the call and in its result.
func TestCheckComparesAPlaceholderWithTheOriginal(t *testing.T) {
	const (
		status = "Exit code 0\n"
		failed = "\x1b[31m--- FAIL: TestA [\"x\"] (0.00s)\x1b[0m\n"
		ends   = "FAIL\texample.com/store\t0.4s"
	)
	all := status + words(300) + "\n" + failed + words(30) + "\n" + ends
	for _, c := range []struct {
		result, said string
		holds        bool
	}{
		{all, ` · my_bash "go test './...' | tail -4" · says "--- FAIL: TestA ('x') (0.00s)" · exit 0`, true},
		{all, ` · my_bash "go test './...'…" · says "--- FAIL: Test…" · exit 0`, true},
		{all, ` · my_b… "go test './...' | tail -4" · says "FAIL example.com/store 0.4s"`, true},
		{status + ends, ` · my_bash "go test './...' | tail -4" · exit 0`, true}, // valid without a quotation: no line names a failed test
		{all, ` · my_bash`, true},
		{all, ` · exit 0`, true},
		{all, ` · my_bash "go test './...' | tail -4" · says "ok example.com/store 0.4s"`, false},
		{all, ` · my_bash "go test './...' | tail -4" · says "FAIL example.com/store 0.4s" · exit 1`, false},
		{all, ` · my_bash "go test './...' | tail -4" · says "(0.00s) word" · exit 0`, false}, // the quotation spans two lines
		{all, ` · my_bash "go test './...' | tail -4" · says "word" · exit 0`, false},         // the quotation does not name the failed test
		{all, ` · my_bash "go test './...' | tail -4" · exit 0`, false},
		{all, ` · my_bash "go vet './...'"`, false},
		{all, ` · your_bash "go test './...'…" · says "FAIL…"`, false},
	} {
		in := []message.Message{
			message.User("u"), message.Assistant("", message.Call("1", "my bash", `{"timeout":4,"command":"go test \"./...\" | tail -4"}`)),
			message.ToolResult("1", c.result+strings.Repeat(" ", 2000)), message.Assistant("a"),
		}
		out := slices.Clone(in)
		text := fmt.Sprintf("[observation masked — %d chars%s]", utf8.RuneCountInString(in[2].Parts[0].Text), c.said)
		out[2] = edit(t, in[2], text)
		var want []string
		if !c.holds {
			want = []string{RuleText}
		}
		if found := Check(earlier(in, out, map[int]string{2: masked})); !slices.Equal(rules(found), want) {
			t.Errorf("%s: Check reports %v", text, found)
		}
	}
}

// The placeholder of a result that answers no call names no call.
func TestCheckReportsAResultWithoutACall(t *testing.T) {
	in := []message.Message{message.User("u"), message.ToolResult("9", words(400)), message.Assistant("a")}
	out := slices.Clone(in)
	out[1] = edit(t, in[1], `[observation masked — 1999 chars · bash "ls"]`)
	if got := rules(Check(earlier(in, out, map[int]string{1: masked}))); !slices.Contains(got, RuleText) {
		t.Errorf("Check reports %v", got)
	}
}
