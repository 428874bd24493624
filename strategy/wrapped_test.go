package strategy

import (
	"strings"
	"testing"
)

// An effect has one line, in whatever form the tool and its result are written.
func TestEffectInJSONHasOneLine(t *testing.T) {
	for _, c := range []struct{ tool, args, result, want string }{
		{"create_ticket", `{"tickets":[{"title":"Broken cart"},{"title":"Slow search"}]}`, `{"created":[{"id":"T-3001","title":"Broken cart"},{"id":"T-3002","title":"Slow search"}],"count":2}`,
			"[done] called `create_ticket` Broken cart with title=Broken cart,Slow search, which returned: count: 2, created: (id: T-3001, title: Broken cart; id: T-3002, title: Slow search) (do not repeat)"},
		{"mcp__tracker__create_issue", `{"title":"Broken cart"}`, `[{"type":"text","text":"{\"id\":\"I-42\",\"state\":\"open\"}"}]`, "[done] called `mcp__tracker__create_issue` Broken cart, which returned: state: open, id: I-42 (do not repeat)"},
		{"create_issue", `{"title":"Broken cart"}`, `{"content":[{"type":"text","text":"Created I-42"}]}`, "[done] called `create_issue` Broken cart, which returned: Created I-42 (do not repeat)"},
		{"use_mcp_tool", `{"server_name":"tracker","tool_name":"create_issue","arguments":"{\"title\":\"Broken cart\"}"}`, `{"id":"I-42"}`, "[done] called `create_issue` Broken cart, which returned: id: I-42 (do not repeat)"},
		{"http_request", `{"method":"POST","url":"https://api.example.org/orders"}`, `{"id":"ord-991"}`, "[done] called `http_request` https://api.example.org/orders with method=POST, which returned: id: ord-991 (do not repeat)"},
	} {
		text := write4(t, long("Report it.", ranCalls([3]string{c.tool, c.args, c.result})...))
		if !strings.Contains(text, c.want) || strings.Count(text, "called `") != 1 || strings.Contains(text, "fetched") {
			t.Errorf("%q is not once in:\n%s", c.want, text)
		}
	}
	tells(t, long("Report it.", ranCalls([3]string{"create_issue", `{"title":"Broken cart"}`, `{"content":[{"type":"text","text":"Quota exceeded for project"}],"isError":true}`})...),
		[]string{"`create_issue` Broken cart failed: Error: Quota exceeded for project"}, []string{"[done]"})
	tells(t, long("Look.", ranCalls([3]string{"http_request", `{"method":"POST","url":"https://api.example.org/search"}`, `{"hits":1}`})...), nil, []string{"[done]"})
}

// The report of a harness around an output is no output.
func TestReportAroundAnOutputIsNotQuoted(t *testing.T) {
	report := func(output, wrong, status string) string {
		return "Command: x\nDirectory: (root)\nOutput: " + output + "\nError: " + wrong + "\nExit Code: " + status + "\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 77"
	}
	for result, want := range map[string]string{
		report("(empty)", "(none)", "0"):         "Exit Code: 0",
		report("a\nb", "(none)", "0"):            "Exit Code: 0\na\nb",
		report("(empty)", "no such file", "1"):   "Exit Code: 1\nno such file",
		report("(empty)", "(none)", "(none)"):    "",
		"Command: x failed\nError: no such file": "Command: x failed\nError: no such file",
	} {
		if got := withoutRunReport(result); got != want {
			t.Errorf("%q: %q, want %q", result, got, want)
		}
	}
	tells(t, long("Stage it.", ranCalls([3]string{"run_shell_command", `{"command":"git add docs/a.md"}`, strings.ReplaceAll(report("(empty)", "(none)", "0"), "x\n", "git add docs/a.md\n")})...), []string{"ran `git add docs/a.md` (exit 0)"}, []string{"(none)"})
}
