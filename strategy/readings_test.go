package strategy

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// A line of a model's summary is either a heading or the content of a section. If a bullet
// with the name of a section were a heading, the next lines would be in the wrong section.
func TestHeadingRecognizesHeadings(t *testing.T) {
	for line, want := range map[string]string{
		"Decisions": "Decisions", "**Decisions**": "Decisions", "## Decisions": "Decisions", "Decisions:": "Decisions", "Decisions made so far:": "Decisions",
		"- Decisions": "", "- Decisions:": "", "* Decisions:": "", "2. Decisions": "", "Decisions were made": "", "Nothing of that:": "",
	} {
		got := ""
		if h, ok := taskState.heading(line); ok {
			if i, ok := taskState.section(h); ok {
				got = taskState.Sections[i].Title
			}
		}
		if got != want {
			t.Errorf("%q begins %q, want %q", line, got, want)
		}
	}
	for heading, want := range map[string]bool{"Decisions": true, "Decisions of the user": true, "Key": false, "Dec": false, "Decisionsmade": false} {
		if _, ok := taskState.section(heading); ok != want {
			t.Errorf("%q is a section: %v, want the opposite", heading, ok)
		}
	}
}

func TestDebrisRecognizesLinesOfData(t *testing.T) {
	for line, want := range map[string]bool{
		`"name": "x"`: true, `"name":"x"`: true, `"a",`: true, "func a() {": true, "x = await y()": true, "Home › Docs": true, "a.py:3: is wrong": true,
		`"It is done", he said.`: false, "It works.": false, "": false, "a.py:3 is wrong": false, "a.py: is wrong": true,
	} {
		if got := debris(line); got != want {
			t.Errorf("debris(%q) = %v, want %v", line, got, want)
		}
	}
}

func TestBetweenRequiresBothEnds(t *testing.T) {
	for text, want := range map[string]string{"a<b>c": "b", "a<b>c>": "b", "ab>c": "", "a<bc": "", "": ""} {
		if got := between(text, "<", ">"); got != want {
			t.Errorf("between(%q) = %q, want %q", text, got, want)
		}
	}
}

// A shell runs the command even if it prints a warning.
func TestShellErrorRecognizesErrors(t *testing.T) {
	for out, want := range map[string]bool{
		"bash: jq: command not found": true, "/bin/sh: 1: jq: not found": true, "zsh: no such file or directory: ./a": true, "bash: ./a: Permission denied\n": true,
		"ModuleNotFoundError: No module named 'x'": true, "pkg.errors.LoadError: bad row": true, "KeyboardInterrupt: fit exceeded 600 s\n": true, "ValueError: a\n1\n2\n3\n4": false, "Errors: 0": false, "LoadError is a class": false,
		"error: no such option": true, "fatal: not a git repository": true, "  Traceback (most recent call last):\n": true,
		"bash: warning: setlocale: LC_ALL: cannot change locale": false, "key not found": false, "ok\nbash: jq: command not found": false,
	} {
		if got := shellError(out); got != want {
			t.Errorf("shellError(%q) = %v, want %v", out, got, want)
		}
	}
}

// A command that found nothing to undo does not count as an undo.
func TestNothingToUndoIsNoUndo(t *testing.T) {
	for cmd, c := range map[string]struct {
		result string
		want   bool
	}{
		"git stash && git checkout main":   {"No local changes to save\nSwitched to branch 'main'", false},
		"git checkout -- a.go":             {"Updated 0 paths from the index", false},
		"git stash; git checkout main":     {"Saved working directory and index state WIP on main", true},
		"git checkout -- b.go; git stash":  {"No local changes to save", true},
		"git restore c.go && git stash -u": {"", true},
	} {
		if got := ranCommand(cmd, c.result).undoes(); got != c.want {
			t.Errorf("%q: undoes returns %v, want the opposite", cmd, got)
		}
	}
}

func TestUndoesRecognizesCommands(t *testing.T) {
	for cmd, want := range map[string]bool{
		"git stash": true, "cd a && git stash": true, "git stash push -m x": true, "git restore a.go": true, "git checkout -- a.go": true, "git reset --hard": true,
		"git stash pop": false, "git stash list": false, "git restore --staged a.go": false, "git checkout main": false, "git diff": false,
	} {
		c := Call{Tool: "bash", Args: []Arg{{"command", cmd}}, Answered: true}
		if got := c.undoes(); got != want {
			t.Errorf("%q: undoes returns %v, want the opposite", cmd, got)
		}
		c.Outcome = Failed
		if c.undoes() {
			t.Errorf("%q failed, but counts as an undo", cmd)
		}
		c.Outcome, c.Answered = OK, false
		if c.undoes() {
			t.Errorf("%q has no result, but counts as an undo", cmd)
		}
	}
}

func TestIsHashRequiresSevenDigits(t *testing.T) {
	for id, want := range map[string]bool{"abcdef": false, "abcdef0": true, "abcdefg": false, "0123456789abcdef": true, "ABCDEF0": false} {
		if got := isHash(id); got != want {
			t.Errorf("isHash(%q) = %v, want %v", id, got, want)
		}
	}
}

func TestBlocksSplitsAtFences(t *testing.T) {
	var got []string
	for _, b := range blocks(strings.Split("Look at this:\n```\na\n```\n~~~\nb\n~~~\nand do it.", "\n")) {
		got = append(got, b.what+" "+strings.Join(b.lines, "|"))
	}
	if want := []string{" Look at this:", "code ```|a|```", "code ~~~|b|~~~", " and do it."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Files of a folder share a verb, unless one of them was changed more than once.
func TestFilesOfFolderShareALine(t *testing.T) {
	file := func(name string, op fileops.Kind, changes int) fileState {
		return fileState{Path: "d/" + name, Op: op, Changes: changes}
	}
	for want, files := range map[string][]fileState{
		"In `d/`: edited a.go and b.go":                      {file("a.go", fileops.Edited, 1), file("b.go", fileops.Edited, 1)},
		"In `d/`: edited a.go; edited b.go twice":            {file("a.go", fileops.Edited, 1), file("b.go", fileops.Edited, 2)},
		"In `d/`: edited a.go twice; edited b.go":            {file("a.go", fileops.Edited, 2), file("b.go", fileops.Edited, 1)},
		"In `d/`: edited a.go; created b.go":                 {file("a.go", fileops.Edited, 1), file("b.go", fileops.Created, 1)},
		"In `d/`: edited a.go and b.go; edited c.go 3 times": {file("a.go", fileops.Edited, 1), file("b.go", fileops.Edited, 1), file("c.go", fileops.Edited, 3)},
	} {
		if got := folderLine("d", files); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDoneItemsShareALine(t *testing.T) {
	items := []item{{Text: "a", Status: itemDone}, {Text: "b", Status: itemDone}, {Text: "c", Status: itemDone}, {Text: "d", Status: itemDone}, {Text: "e", Status: itemDone}, {Text: "f", Status: itemOpen}}
	var got []string
	for _, l := range itemLines(items, 0) {
		got = append(got, l.Text)
	}
	if want := []string{"[done] a; b; c; d", "[open] f", "[done] e"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// verify returns a shorter copy. The document of the caller keeps all lines.
func TestVerifyDoesNotChangeTheDraft(t *testing.T) {
	src := newSource([]message.Message{message.User("Fix lock.go.")})
	d := ParseDocument(taskState, "## Decisions\n- lock.go is fixed\n- src/never/there.go is new\n")
	before := d.clone()
	out, _ := verify(d, src)
	if !reflect.DeepEqual(d, before) {
		t.Errorf("the draft was changed: %+v", d)
	}
	if reflect.DeepEqual(out, before) {
		t.Errorf("no line was removed from %+v", out)
	}
}
