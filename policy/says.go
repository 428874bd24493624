package policy

import (
	"encoding/json"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
)

// commandKeys are the arguments that hold a command line.
var commandKeys = []string{"command", "cmd"}

// viewers are programs that print the content of files or of other places, which
// says nothing about a run. setups prepare the command that follows them, or print
// nothing of a file.
var (
	viewers = []string{"cat", "sed", "head", "tail", "less", "nl", "awk", "grep", "rg", "git", "gh", "ls", "find", "diff", "jq", "curl"}
	setups  = []string{"cd", "pushd", "export", "set", "source", ".", "echo", "printf", "mkdir", "sleep"}
)

// deeds are what git and gh are told to do, and do not only show.
var deeds = []string{"add", "commit", "push", "pull", "merge", "rebase", "cherry-pick", "revert", "am", "apply", "clone", "create", "close", "edit", "reopen"}

// shells matches a shell before the command line that it runs.
var shells = regexp.MustCompile(`\A(?:/usr)?(?:/bin/)?(?:bash|sh|zsh) -l?c ["']?`)

// quote lets a mark quote the line in which a result says how a command ended: a test
// run, a build, a script, a commit. The status of a command may be that of another
// one: `go test ./... | tail` ends with 0. What a command with another status says
// to have done is not quoted.
func (v *View) quote(i, p int, k *Mark) {
	part := &v.Messages[i].Parts[p]
	c, ok := v.tools().call(i, part)
	if !ok || !runsCommand(c.args) {
		return
	}
	failed := k.Ended && k.Exit != 0
	if r := testrun.Tells(part.Text, failed); r.Verdict == testrun.Failure || r.Verdict == testrun.Success && !failed {
		k.SaysFrom, k.SaysTo = r.From, r.To
	}
}

// runsCommand reports whether the arguments of a call are a command line that does more
// than to show something.
func runsCommand(arguments json.RawMessage) bool {
	var args map[string]json.RawMessage
	if json.Unmarshal(arguments, &args) != nil {
		return false
	}
	for _, key := range commandKeys {
		text := shells.ReplaceAllString(strings.TrimSpace(words(args[key])), "")
		for command := range simpleCommands(text) {
			if does, shows := classify(command); does || shows {
				return does
			}
		}
	}
	return false
}

// classify reports whether a simple command does something, or shows something.
// Neither is so for one that prepares others, and for one whose output goes to a file.
func classify(command string) (does, shows bool) {
	words := strings.Fields(command)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}
	switch {
	case len(words) == 0, slices.Contains(setups, words[0]):
		return false, false
	case words[0] == "cat" && (strings.Contains(command, "> ") || strings.Contains(command, "<<")):
		return false, false
	case words[0] == "git" || words[0] == "gh":
		does = slices.ContainsFunc(words[1:min(len(words), 5)], func(w string) bool { return slices.Contains(deeds, w) })
		return does, !does
	}
	shows = slices.Contains(viewers, words[0])
	return !shows, shows
}

// simpleCommands splits a command line at the ends of lines, at ; and at &&, outside of
// quotes. It leaves out comments and the text of here-documents.
func simpleCommands(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var quote byte
		start := 0
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '\'' || c == '"':
				quote = c
			case c == '#' && strings.TrimSpace(text[start:i]) == "":
				end := strings.IndexByte(text[i:], '\n')
				if end < 0 {
					end = len(text) - i
				}
				i += end
				start = i
			case c == '\n' || c == ';' || strings.HasPrefix(text[i:], "&&"):
				command := strings.TrimSpace(text[start:i])
				if !yield(command) {
					return
				}
				switch c {
				case '\n':
					i = hereEnd(command, text, i)
				case '&':
					i++
				}
				start = min(i+1, len(text))
			}
		}
		yield(strings.TrimSpace(text[min(start, len(text)):]))
	}
}

// hereEnd returns the end of the here-document that a command begins whose line ends at
// i, or i.
func hereEnd(command, text string, i int) int {
	_, word, ok := strings.Cut(command, "<<")
	if name := strings.Fields(strings.TrimLeft(word, "-")); ok && len(name) > 0 {
		if at := strings.Index(text[i:], "\n"+strings.Trim(name[0], `'"\`)+"\n"); at >= 0 {
			return i + at + len(strings.Trim(name[0], `'"\`)) + 1
		}
		return len(text)
	}
	return i
}

// unsaid returns the mark of a result without what it quotes of a success. That
// something failed is never left out beside the call: the status may hide it.
func (k Mark) unsaid(result string) (Mark, bool) {
	if k.SaysTo == 0 || testrun.Tells(result, k.Ended && k.Exit != 0).Verdict != testrun.Success {
		return k, false
	}
	k.SaysFrom, k.SaysTo = 0, 0
	return k, true
}

// without returns a mark in a form that says nothing about how a call ended.
func (k Mark) without(form string) Mark {
	k.Form, k.Ended, k.Exit, k.SaysFrom, k.SaysTo = form, false, 0, 0, 0
	return k
}
