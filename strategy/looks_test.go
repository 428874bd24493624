package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// The folder in an entry about many read files contains all of these files, even if the names of
// two folders have the same beginning.
func TestTheFolderOfReadFilesContainsThemAll(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"one folder":                    {[]string{"internal/api/a.go", "internal/api/b.go", "internal/api/c.go", "internal/api/d.go", "internal/api/e.go"}, " and 2 more under internal/api/"},
		"two folders that begin alike":  {[]string{"internal/api/a.go", "internal/api/b.go", "internal/apiold/c.go", "internal/apiold/d.go", "internal/api/e.go"}, " and 2 more under internal/"},
		"only the root is above of all": {[]string{"/srv/a.go", "/srv/b.go", "/etc/c.go", "/srv/d.go", "/srv/e.go"}, " and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			msgs := []message.Message{message.User("Find out why the server is slow.")}
			for i, file := range c.files {
				msgs = append(msgs, called(fmt.Sprint(i), "read_file", fmt.Sprintf(`{"path":%q}`, file), "package p")...)
			}
			text := extract(t, strategy.TaskState, append(msgs, message.Assistant("I know it now."), message.User("Go on.")))
			if !strings.Contains(text, c.want+"\n") {
				t.Errorf("%q is not in:\n%s", c.want, text)
			}
		})
	}
}

// A file that was created by its absolute path and renamed by its relative path is one file.
func TestAFileIsRecognizedByTheRelativePathOfItsRename(t *testing.T) {
	msgs := []message.Message{message.User("Add the parser.")}
	msgs = append(msgs, called("1", "write_file", `{"path":"/srv/app/internal/lang/parse.go","content":"package lang"}`, "ok")...)
	msgs = append(msgs, called("2", "bash", `{"command":"git mv internal/lang/parse.go internal/lang/parser.go"}`, "")...)
	text := extract(t, strategy.TaskState, append(msgs, message.Assistant("Done.")))
	if want := "`internal/lang/parser.go`: created, renamed from `internal/lang/parse.go`"; !strings.Contains(text, want) || strings.Contains(text, "/srv/app") {
		t.Errorf("%q is not the only entry in:\n%s", want, text)
	}
}

// notes returns a call that read a long text about nothing, so that the summary has room.
func notes() []message.Message {
	return called("notes", "read", `{"path":"notes.txt"}`, strings.Repeat("a long line that says very little about anything\n", 200))
}

// looked returns the summary of calls that only look. Each call has a tool, arguments and a
// result.
func looked(t *testing.T, calls ...[3]string) string {
	t.Helper()
	msgs := append([]message.Message{message.User("Find out why the server is slow.")}, notes()...)
	for i, c := range calls {
		msgs = append(msgs, called(fmt.Sprint(i), c[0], c[1], c[2])...)
	}
	return extract(t, strategy.TaskState, append(msgs, message.Assistant("I know it now."), message.User("Go on.")))
}

// A search that printed only color codes found nothing, and did not fail.
func TestASearchThatPrintedOnlyColorsFoundNothing(t *testing.T) {
	for output, vain := range map[string]bool{"": true, "\x1b[0m\x1b[K": true, "grep: a: Permission denied": false} {
		text := looked(t, [3]string{"bash", `{"command":"grep -rn Retry ."}`, output + "\nExit code 1"})
		if strings.Contains(text, "ended with exit 1") == vain {
			t.Errorf("the output is stated as a failure or not, want the opposite: %q:\n%s", output, text)
		}
	}
}

// A file that was created by its absolute path and edited by a path below "./" is one file.
func TestAFileIsRecognizedByItsPathBelowTheFolder(t *testing.T) {
	msgs := []message.Message{message.User("Add the parser.")}
	msgs = append(msgs, called("1", "write_file", `{"path":"/srv/app/internal/lang/parse.go","content":"package lang"}`, "ok")...)
	msgs = append(msgs, called("2", "str_replace", `{"path":"./internal/lang/parse.go","old_str":"lang","new_str":"parse"}`, "ok")...)
	text := extract(t, strategy.TaskState, append(msgs, message.Assistant("Done.")))
	if strings.Count(text, "parse.go`: ") != 1 {
		t.Errorf("the file is not one entry in:\n%s", text)
	}
}
