package policy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
)

// commandKeys are the arguments that hold a command line.
var commandKeys = []string{"command", "cmd"}

// viewers are programs that print the content of files or of other places, which
// says nothing about a run. setups prepare the command that follows them.
var (
	viewers = []string{"cat", "sed", "head", "tail", "less", "nl", "awk", "grep", "rg", "git", "gh", "ls", "find", "diff", "jq", "curl", "echo", "printf"}
	setups  = []string{"cd", "pushd", "export", "set", "source", "."}
)

// shells matches a shell before the command line that it runs.
var shells = regexp.MustCompile(`\A(?:/usr)?(?:/bin/)?(?:bash|sh|zsh) -l?c `)

// quote lets a mark quote the line in which a result states the outcome of a test
// run, a build or a linter. The status of a command may be that of another one:
// `go test ./... | tail` ends with 0. A success is quoted only if there is no
// status.
func (v *View) quote(i, p int, k *Mark) {
	part := &v.Messages[i].Parts[p]
	c, ok := v.tools().call(i, part)
	if !ok || !runsCommand(c.args) {
		return
	}
	r := testrun.Read(part.Text)
	if r.Verdict == testrun.Failure || r.Verdict == testrun.Success && !k.Ended {
		k.Form, k.SaysFrom, k.SaysTo = saying(k.Form), r.From, r.To
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
		command := shells.ReplaceAllString(argument(args[key]), "")
		for part := range strings.SplitSeq(strings.ReplaceAll(command, "&&", ";"), ";") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			if name != "" && !slices.Contains(setups, name) {
				return !slices.Contains(viewers, name)
			}
		}
	}
	return false
}

// without returns a mark in a form that says nothing about how a call ended.
func (k Mark) without(form string) Mark {
	k.Form, k.Ended, k.Exit, k.SaysFrom, k.SaysTo = form, false, 0, 0, 0
	return k
}
