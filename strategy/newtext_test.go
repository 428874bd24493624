package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A summary describes an addition to a text by its headings, or else by its first new line.
func TestChangeOfTextFileNamesNewHeadings(t *testing.T) {
	for name, c := range map[string]struct{ file, old, added, want string }{
		"headings":            {"docs/faq.md", "## Old\n", "## Old\n\nText.\n\n## New one\n\n### And a part\n", "“New one”, “And a part”"},
		"the newest headings": {"docs/faq.md", "", "# A b\n# C d\n# E f\n", "“C d”, “E f”"},
		"no comment of code":  {"docs/faq.md", "", "Run it so:\n\n```sh\n# not a heading\nmake\n```\n", "“Run it so:”"},
		"the first new line":  {"docs/faq.mdx", "Some text.\n", "Some text.\n\nMore of it.\n", "“More of it.”"},
		"settings":            {"deploy.yaml", "replicas: 2\n", "# how many\nreplicas: 3\n", "“# how many”"},
		"code is not quoted":  {"a.go", "", "// x is new\n", ""},
		"nothing new":         {"docs/faq.md", "Some text.\n", "Some text.\n", ""},
	} {
		if got := quotedNew(newText(c.file, c.old, c.added)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	patch := patchOps("*** Begin Patch\n*** Update File: a.md\n@@\n-old\n+Some line.\n+## One\n+## Two\n*** Update File: b.txt\n@@\n+first\n+second\n*** End Patch")
	if len(patch) != 2 || quotedNew(patch[0].Added) != "“One”, “Two”" || quotedNew(patch[1].Added) != "“first”" {
		t.Errorf("%+v", patch)
	}
}

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
			changed = changed || f.Path == "/shop/src/options.py" && f.Op == opEdited
		}
		if changed != c.changed {
			t.Errorf("%s: %+v", name, files)
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
			t.Errorf("%q: %v", cmd, c.Check())
		}
	}
}
