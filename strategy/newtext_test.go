package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
)

func scripted(command, output string) []message.Message {
	return []message.Message{
		message.User("Mend the options."),
		message.Assistant("", message.Call("1", "read_file", `{"path":"/shop/src/options.py"}`)), message.ToolResult("1", "class Options: pass"),
		message.Assistant("", message.Call("2", "write_file", `{"path":"/tmp/mend.py","content":"open('x')"}`)), message.ToolResult("2", "done"),
		message.Assistant("", message.Call("3", "bash", `{"command":"`+command+`"}`)), message.ToolResult("3", output),
	}
}

func TestFileThatScriptReportsAsWrittenIsChanged(t *testing.T) {
	for name, c := range map[string]struct {
		command, output string
		changed         bool
	}{
		"whole path":        {"python3 /tmp/mend.py", "Updated /shop/src/options.py", true},
		"end of the path":   {"python3 /tmp/mend.py", "ok\nWrote to: src/options.py.\n", true},
		"unknown file":      {"python3 /tmp/mend.py", "Updated /shop/src/other.py", false},
		"a sentence":        {"python3 /tmp/mend.py", "Updated the docs of the file /shop/src/options.py", false},
		"the script failed": {"python3 /tmp/mend.py", "Exit code: 1\nUpdated /shop/src/options.py", false},
		"output of git log": {"git log", "Updated /shop/src/options.py", false},
	} {
		files := NewHistory(Request{Strategy: codeDelta, First: 1, Count: quarter, Messages: scripted(c.command, c.output)}).fileStates()
		changed := false
		for _, f := range files {
			changed = changed || f.Path == "/shop/src/options.py" && f.Op == fileops.Edited
		}
		if changed != c.changed {
			t.Errorf("%s: files %+v, want the written file changed or not as the case says", name, files)
		}
		if c.changed && files[0].Path != "/shop/src/options.py" {
			t.Errorf("%s: a temporary file comes first: %+v", name, files)
		}
	}
}

func TestCheckIsRecognizedBehindPackageManagerOptions(t *testing.T) {
	for cmd, want := range map[string]bool{
		"yarn workspace shop test":           true,
		"yarn workspace shop run test":       true,
		"yarn workspaces run test":           true,
		"yarn workspaces foreach -A test":    true,
		"pnpm -r --filter shop test":         true,
		"pnpm -w lint":                       true,
		"npm -w shop test":                   true,
		"npm --silent --prefix ui run build": true,
		"bun --cwd shop test":                true,
		"yarn workspace shop add left-pad":   false,
		"npm --version":                      false,
	} {
		c := callOf("bash", `{"command":"`+cmd+`"}`)
		if c.Check() != want {
			t.Errorf("%q: %v, want %v", cmd, c.Check(), want)
		}
	}
}

// code_delta states what an edit changed even if the edit declares nothing, and counts the names
// that it omits.
func TestCodeDeltaSaysWhatChanged(t *testing.T) {
	in := long("Mend the tax.", ranCalls(
		[3]string{"edit", `{"path":"src/tax.ts","old_string":"rate: 0.2,","new_string":"rate: rateOf(country),"}`, "ok"},
		[3]string{"edit", `{"path":"src/stock.ts","old_string":"","new_string":"function addOne() {}\nfunction addTwo() {}\nfunction addAll() {}\nfunction addNone() {}"}`, "ok"},
	)...)
	in.Count = quarter
	text := written(t, codeDelta, 1500, in)
	for _, want := range []string{"[edited] src/tax.ts: “rate: rateOf(country),” [s4]", "[edited] src/stock.ts: addOne, addTwo, addAll and 1 more [s6]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}
