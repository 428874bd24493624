package strategy

import (
	"testing"
)

func TestEditThatChangedNothingIsNoChange(t *testing.T) {
	for _, result := range []string{"No changes were made to the file.", "No changes to make: old_string and new_string are exactly the same.", "File unchanged: content is identical.", "0 replacements made", "Unable to apply diff to file: no match"} {
		for _, tool := range []string{"edit", "apply_diff", "write_file"} {
			c := calledTool(tool, result, "path", "cmd/main.go", "old_string", "a", "new_string", "b")
			if len(c.Files()) > 0 || c.events(3, false)[0].text != "the edit of `cmd/main.go` changed nothing: "+result {
				t.Errorf("%s %q: %v, %s", tool, result, c.Files(), c.events(3, false)[0].text)
			}
		}
	}
	const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Update File: b.go\n@@\n-x\n+y\n*** End Patch"
	if c := calledTool("apply_patch", "a.go: 0 replacements\nb.go: 1 replacement", "patch", patch); len(c.Files()) != 2 {
		t.Errorf("a patch that changed one of two files changes %v", c.Files())
	}
	if c := calledTool("edit", "-a\n+b", "path", "cmd/main.go", "old_string", "a", "new_string", "b", "dryRun", "true"); len(c.Files()) > 0 {
		t.Errorf("a trial run changes %v", c.Files())
	}
	for _, result := range []string{"The file cmd/main.go has been updated. No changes to imports.", "ok", "Made 10 replacements", "Replaced 20 occurrences", "Edited cmd/main.go; its test was not changed", "No editor settings found", "Updated cmd/main.go. The lock file is already up to date."} {
		if c := calledTool("apply_diff", result, "path", "cmd/main.go", "diff", "<<<<<<< SEARCH"); len(c.Files()) != 1 || c.Files()[0].Op != Edited {
			t.Errorf("%q: %v", result, c.Files())
		}
	}
}

// A replacement in place ends with 0 and prints nothing, whether it found the text or not.
func TestReplacementWithoutAMatchIsNoChange(t *testing.T) {
	const silent = "Exit code: 0"
	sed := [3]string{"bash", `{"command":"sed -i 's/old-flag/new-flag/' cmd/main.go"}`, silent}
	for name, c := range map[string]struct {
		calls   [][3]string
		changes int
	}{
		"no look":                        {[][3]string{sed}, 1},
		"a diff in the same command":     {[][3]string{{"bash", `{"command":"sed -i 's/a/b/' cmd/main.go && git diff --stat"}`, silent}}, 0},
		"a diff with the file":           {[][3]string{{"bash", `{"command":"sed -i 's/a/b/' cmd/main.go && git diff --stat"}`, " cmd/main.go | 2 +-\n" + silent}}, 1},
		"a diff of another file":         {[][3]string{sed, {"bash", `{"command":"git diff cmd/other.go"}`, silent}}, 1},
		"a diff later":                   {[][3]string{sed, {"bash", `{"command":"git diff"}`, silent}}, 0},
		"a diff after a commit":          {[][3]string{sed, {"bash", `{"command":"git commit -am x"}`, "[main 1a2b3c4] x"}, {"bash", `{"command":"git diff"}`, silent}}, 1},
		"a commit in the same command":   {[][3]string{{"bash", `{"command":"sed -i 's/a/b/' cmd/main.go && git commit -qam x && git diff"}`, silent}}, 1},
		"a search without a match":       {[][3]string{sed, {"bash", `{"command":"grep -n new-flag cmd/main.go"}`, "Exit code: 1"}}, 0},
		"a count of none":                {[][3]string{sed, {"bash", `{"command":"grep -c new-flag cmd/main.go"}`, "0\nExit code: 1"}}, 0},
		"a search for the old text":      {[][3]string{sed, {"bash", `{"command":"grep -n old-flag cmd/main.go"}`, "Exit code: 1"}}, 1},
		"a search in another file":       {[][3]string{sed, {"bash", `{"command":"grep -n new-flag cmd/other.go"}`, "Exit code: 1"}}, 1},
		"a search that finds the text":   {[][3]string{sed, {"bash", `{"command":"grep -n new-flag cmd/main.go"}`, "3:new-flag\nExit code: 0"}}, 1},
		"a quiet search":                 {[][3]string{sed, {"bash", `{"command":"grep -q new-flag cmd/main.go"}`, ""}}, 1},
		"a search into a file":           {[][3]string{sed, {"bash", `{"command":"grep -n new-flag cmd/main.go > /dev/null"}`, silent}}, 1},
		"a search before":                {[][3]string{{"bash", `{"command":"grep -c new-flag cmd/main.go; sed -i 's/old-flag/new-flag/' cmd/main.go"}`, "0\n" + silent}}, 1},
		"a pattern that is no text":      {[][3]string{{"bash", `{"command":"sed -i 's/a/f(new)/' cmd/main.go"}`, silent}, {"bash", `{"command":"grep -En 'f(new)' cmd/main.go"}`, "Exit code: 1"}}, 1},
		"replaced again":                 {[][3]string{sed, {"bash", `{"command":"sed -i 's/new-flag/last-flag/' cmd/main.go"}`, silent}, {"bash", `{"command":"grep -n new-flag cmd/main.go"}`, "Exit code: 1"}}, 2},
		"a diff before":                  {[][3]string{{"bash", `{"command":"git diff --stat; sed -i 's/a/b/' cmd/main.go"}`, silent}}, 1},
		"a diff into a file":             {[][3]string{{"bash", `{"command":"sed -i 's/a/b/' cmd/main.go && git diff > p.patch"}`, silent}}, 1},
		"a diff without names":           {[][3]string{sed, {"bash", `{"command":"git diff --shortstat"}`, " 1 file changed, 2 insertions(+)\n" + silent}}, 1},
		"a diff of spaces":               {[][3]string{sed, {"bash", `{"command":"git diff -w"}`, silent}}, 1},
		"a diff that fails":              {[][3]string{sed, {"bash", `{"command":"git diff"}`, "fatal: x\nExit code: 128"}}, 1},
		"a diff without a repository":    {[][3]string{sed, {"bash", `{"command":"git diff"}`, "warning: Not a git repository."}}, 1},
		"a diff of a hidden file":        {[][3]string{{"bash", `{"command":"sed -i 's/1/2/' .env && git diff"}`, silent}}, 1},
		"a diff of a new file":           {[][3]string{{"write", `{"path":"cmd/main.go","content":"old-flag"}`, "ok"}, sed, {"bash", `{"command":"git diff"}`, silent}}, 1},
		"another change before a search": {[][3]string{sed, {"edit", `{"path":"cmd/main.go","old_string":"a","new_string":"b"}`, "ok"}, {"bash", `{"command":"grep -n new-flag cmd/main.go"}`, "Exit code: 1"}}, 2},
	} {
		in := long("Rename the flag.", ranCalls(c.calls...)...)
		n := 0
		NewHistory(Request{Strategy: TaskState, Messages: in.Messages, Count: in.Count}).eachCall(func(_ *Step, c *Call) {
			for _, f := range c.Files() {
				if f.Op == Edited {
					n++
				}
			}
		})
		if n != c.changes {
			t.Errorf("%s: %d changes, want %d", name, n, c.changes)
		}
	}
	tells(t, long("Rename the flag.", ranCalls(sed, [3]string{"bash", `{"command":"git diff --stat"}`, silent})...), []string{"ran `sed -i 's/old-flag/new-flag/' cmd/main.go` (exit 0)"}, []string{"edited"})
}
