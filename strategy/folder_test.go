package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func filesOf(msgs ...message.Message) string {
	var out []string
	for _, f := range NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1}).fileStates() {
		out = append(out, f.Path+" "+f.Op.String()+" "+itoa(f.Changes))
	}
	return strings.Join(out, ", ")
}

func TestFilesIncludeFolderOfCommand(t *testing.T) {
	for cmd, want := range map[string]string{
		"cd /tmp/try && touch notes.txt":                  "/tmp/try/notes.txt created 1",
		"mkdir -p /srv/a; cd /srv/a; cd b && rm old.go":   "/srv/a/b/old.go deleted 1",
		"cd web && mv src/a.ts src/b.ts":                  "web/src/b.ts renamed 1",
		"cd /srv/a && rm ../b/x.go ~/y.go /etc/z.conf":    "/srv/b/x.go deleted 1, ~/y.go deleted 1, /etc/z.conf deleted 1",
		"cd $HOME && touch notes.txt":                     "notes.txt created 1",
		"cd /srv/a && touch x.go; cd - && touch notes.go": "/srv/a/x.go created 1, notes.go created 1",
	} {
		if got := filesOf(command("1", "", cmd, "Exit code: 0")...); got != want {
			t.Errorf("%s: files %s, want others", cmd, got)
		}
	}
}

// A relative path in a command that runs in another folder is another file. The line about a
// failure there names that folder.
func TestFilesIncludeFolderArgument(t *testing.T) {
	in := func(id, dir, cmd, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "exec_command", `{"cmd":"`+cmd+`","workdir":"`+dir+`"}`)), message.ToolResult(id, result)}
	}
	msgs := append(in("1", "/srv/shop", "touch src/a.ts", "Process exited with code 0"), in("2", "/srv/shop", "touch src/b.ts", "Process exited with code 0")...)
	msgs = append(msgs, in("3", "/srv/peer", "cat src/a.ts", "Process exited with code 0\nOutput:\nx")...)
	msgs = append(msgs, in("4", "/srv/peer", "git status", "Process exited with code 128\nOutput:\nfatal: not a git repository")...)
	if got, want := filesOf(msgs...), "src/b.ts created 1, src/a.ts created 1, /srv/peer/src/a.ts read 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	tells(t, long("Look at the peer.", append(msgs, message.Assistant("Seen."))...), []string{"fatal: not a git repository (in /srv/peer)"}, nil)
}

func edit(id, path string) []message.Message {
	return []message.Message{message.Assistant("", message.Call(id, "Write", `{"file_path":"`+path+`","content":"x"}`)), message.ToolResult(id, "File created successfully")}
}

func TestFilesMergeTwoNamesOfOneFile(t *testing.T) {
	both := append(edit("1", "/home/me/shop/pkg/store/rows_test.go"), command("2", "", "rm pkg/store/rows_test.go", "Exit code: 0")...)
	if got := filesOf(both...); got != "/home/me/shop/pkg/store/rows_test.go deleted 2" {
		t.Errorf("the two names are not one file: %s", got)
	}
	inTwo := append(edit("0", "/home/me/other/pkg/store/rows_test.go"), both...)
	if got := filesOf(inTwo...); !strings.Contains(got, "pkg/store/rows_test.go deleted 1") || strings.Count(got, "created") != 2 {
		t.Errorf("a short path that fits two files: %s", got)
	}
	short := append(edit("1", "/home/me/shop/web/src/index.ts"), command("2", "", "rm src/index.ts", "Exit code: 0")...)
	if got := filesOf(short...); strings.Count(got, ",") != 1 {
		t.Errorf("a single short path was merged with a long one: %s", got)
	}
}

func TestNextSummaryMergesTwoNamesOfOneFile(t *testing.T) {
	long := message.User(strings.Repeat("Go on with the rows of the store. ", 30))
	in := Input{Messages: append([]message.Message{long}, edit("1", "/home/me/shop/pkg/store/rows_test.go")...), Count: func(s string) int { return len(s) / 4 }}
	first := written(t, taskState, 1500, in)
	if !strings.Contains(first, "`/home/me/shop/pkg/store/rows_test.go`: created") {
		t.Fatalf("the summary has wrong files:\n%s", first)
	}
	in.Previous, in.Messages = first, append([]message.Message{long}, command("2", "", "rm pkg/store/rows_test.go", "Exit code: 0")...)
	next := written(t, taskState, 1500, in)
	if !strings.Contains(next, "`/home/me/shop/pkg/store/rows_test.go`: deleted") || strings.Contains(next, "`pkg/store/rows_test.go`: deleted") {
		t.Errorf("the next summary does not merge the names:\n%s", next)
	}
}

func TestFilesInHomeFolderKeepRelativeNames(t *testing.T) {
	msgs := append(command("1", "", "cd /srv/shop && touch pkg/a.go", "Exit code: 0"), command("2", "", "cd /srv/shop && touch pkg/b.go", "Exit code: 0")...)
	msgs = append(msgs, command("3", "", "cd /srv/shop && sed -i s/a/b/ pkg/a.go", "Exit code: 0")...)
	msgs = append(msgs, command("4", "", "cd /tmp/try && touch c.go", "Exit code: 0")...)
	if got := filesOf(msgs...); got != "/tmp/try/c.go created 1, pkg/a.go created 2, pkg/b.go created 1" {
		t.Errorf("a file in the home folder loses its relative name: %s, want %s", got, "/tmp/try/c.go created 1, pkg/a.go created 2, pkg/b.go created 1")
	}
}
