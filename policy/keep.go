package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/message"
)

// keepOf returns what a cut of part p of message i to limit tokens keeps: head, tail or
// both; "" means head.
func (t Truncate) keepOf(v *View, i, p, limit int) string {
	keep := t.Keep
	if t.Newest != "" && v.unseen(i) {
		keep = t.Newest
	}
	switch {
	case keep != keepAuto:
		return keep
	case limit > 0 && v.ofCommand(i, p):
		return keepBoth
	}
	return keepHead
}

// unseen reports whether message i comes after the last assistant message, so that the
// model has not read it yet.
func (v *View) unseen(i int) bool {
	for k := len(v.Messages) - 1; k > i; k-- {
		if v.Messages[k].Role == message.RoleAssistant {
			return false
		}
	}
	return true
}

// ofCommand reports whether part p of message i is the output of a command. The end of
// such an output states the outcome of the command. ofCommand looks at the name of the tool
// and at the arguments of the call.
func (v *View) ofCommand(i, p int) bool {
	part := &v.Messages[i].Parts[p]
	c, _ := v.tools().Call(i, part)
	return runs(v.tools().Name(i, part)) || command(c.Args)
}

// runners are words in the names of tools that run commands.
var runners = []string{"bash", "sh", "zsh", "shell", "powershell", "pwsh", "terminal", "console", "exec", "execute", "run", "command", "cmd"}

func runs(tool string) bool {
	var b strings.Builder
	for i, r := range tool { // runCommand is two words
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	words := strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(runners, w) })
}

// command reports whether arguments hold a command line. A single word in "command" does
// not count, because it may be a subcommand of the tool, such as "view".
func command(arguments json.RawMessage) bool {
	var args struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
	}
	if json.Unmarshal(arguments, &args) != nil {
		return false
	}
	return strings.Contains(argument(args.Command), " ") || argument(args.Cmd) != ""
}
