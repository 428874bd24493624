package strategy

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// A deed is the kind of action of a call.
type deed uint8

// The kinds of actions. The work log describes each kind in a different form.
const (
	deedLook   deed = iota // reads, lists, searches
	deedChange             // changes files
	deedCheck              // tests, builds, lints
	deedRun                // any other command
	deedCall               // any other tool
	deedPlan               // keeps a task list
	deedSend               // gives work to another agent
	deedAsk                // asks the user a question
)

// lookTools lists parts of the names of tools that only look. It leaves out searches and
// page visits, because summaries report their results.
var lookTools = []string{"read", "view", "open", "grep", "glob", "list", "ls", "screenshot", "cat"}

// lookCommands lists beginnings of commands that only look.
var lookCommands = []string{"cat ", "ls", "ll", "grep ", "rg ", "egrep ", "find ", "fd ", "head ", "tail ", "sed -n", "wc ", "pwd", "which ", "tree", "nl ", "go doc ", "cd ", "stat ", "file ", "du ",
	"git status", "git diff", "git log", "git show", "git branch", "git blame", "git grep", "git remote", "git rev-parse", "git ls-files", "git ls-tree", "git cat-file", "git worktree list", "gh pr view", "gh pr list",
	"gh pr diff", "gh issue view", "gh issue list", "gh api", "gh run view", "gh run list", "gh pr checks", "echo ", "sort", "uniq", "cut ", "awk ", "jq ", "less ", "printf ", "base64 -d", "base64 --decode", "sleep ", "xargs grep", "tr ",
	"true", "env", "date", "ps ", "test ", "[ ", "type ", "command -v", "sed -e", "diff ", "column ", "get-content", "get-childitem", "select-string"}

// helpOptions make any program show its help or its version.
var helpOptions = []string{" --help ", " --version "}

// showsOrHelps reports whether a simple command only shows something, or its own help.
func showsOrHelps(simple string) bool {
	return looksOnly(simple) || prose.HasAny(simple+" ", helpOptions)
}

// looksOnly reports whether a simple command in lower case only shows something.
func looksOnly(simple string) bool {
	return prose.BeginsAny(simple+" ", lookCommands) && !effects.Requests(simple) // the space ends a bare "head"
}

// deed returns the kind of action of a call.
func (c *Call) deed() deed {
	low := strings.ToLower(c.Tool)
	cmd := c.Command()
	switch {
	case planTool(low):
		return deedPlan
	case c.asksUser():
		return deedAsk
	case agentTool(low):
		return deedSend
	case cmd != "" && c.Check():
		return deedCheck
	case c.changes():
		return deedChange
	case cmd != "" && strings.ContainsAny(cmd, " \n") || low == "bash" || low == "shell":
		if allCommands(cmd, looksOnly) || c.Outcome != Failed && allCommands(cmd, showsOrHelps) {
			return deedLook
		}
		return deedRun
	case c.op() == fileops.Read && len(c.files) > 0, hasWord(low, lookTools) && !c.makesByOpening():
		return deedLook
	}
	return deedCall
}

// makesByOpening reports whether a call opens something new, such as a ticket.
func (c *Call) makesByOpening() bool {
	verb, _ := verbOf(c.Tool)
	return verb == "open" && len(c.files) == 0
}

// changes reports whether the call changes a file, or tried to change one and failed.
func (c *Call) changes() bool {
	if c.Outcome == Failed && c.runsCode() { // it ran, up to its exception
		return false
	}
	for _, f := range c.files {
		if f.Op >= fileops.Edited {
			return true
		}
	}
	return c.Outcome == Failed && c.Command() == "" && c.op() >= fileops.Edited && c.arg("path", "file_path", "filePath", "input", "patch", "patchText") != ""
}

func planTool(low string) bool {
	return strings.Contains(low, "todo") || low == "update_plan" || strings.HasPrefix(low, "taskcreate") || strings.HasPrefix(low, "taskupdate") ||
		low == "tasklist" || low == "taskget" || low == "task_tracker" || low == "update_todo_list" || low == "task_create" || low == "task_update"
}

func askTool(low string) bool {
	return strings.HasPrefix(low, "ask") || strings.Contains(low, "request_user_input") || strings.Contains(low, "followup_question") || low == "clarify"
}

func agentTool(low string) bool {
	return low == "task" || low == "agent" || strings.Contains(low, "subagent") || strings.Contains(low, "spawn_agent") || low == "delegate" || low == "dispatch_agent" || low == "wait_agent"
}

// hasWord reports whether a part of a name in snake case begins with one of the
// words.
func hasWord(low string, words []string) bool {
	for _, part := range strings.FieldsFunc(low, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if prose.BeginsAny(part, words) {
			return true
		}
	}
	return false
}

// allCommands reports whether f holds for every simple command of a line.
func allCommands(cmd string, f func(string) bool) bool {
	all := true
	shell.Any(cmd, func(s string) bool {
		if s = shell.InLoop(strings.TrimSpace(s)); s != "" && !f(s) {
			all = false
		}
		return !all
	})
	return all && cmd != ""
}

// maxCommand is the maximum length of a quoted command, in characters.
const maxCommand = 96

// shortCommand returns the form of a command that lines quote: without a change of folder
// before it, and without the text of here-documents.
func shortCommand(cmd string) string {
	cmd = strings.TrimSpace(cmd)
	for {
		rest, ok := strings.CutPrefix(cmd, "cd ")
		if !ok {
			break
		}
		_, after, found := strings.Cut(rest, "&&")
		if !found {
			break
		}
		cmd = strings.TrimSpace(after)
	}
	cmd = pastHeredocs(cmd)
	short, most := withoutHeaders(prose.Squash(cmd[:min(len(cmd), 8*maxCommand)]))
	return strings.ReplaceAll(prose.CutText(short, most), "`", "'")
}

// fromEffect shortens a command that is too long to quote. The result begins with the
// first part that changes something outside: "… && git commit" of "git add a b && git commit".
func fromEffect(cmd string) string {
	cmd = strings.ReplaceAll(cmd, "\\\n", " ")
	if utf8.RuneCountInString(cmd) <= maxCommand || effects.Changes(strings.ToLower(cmd[:min(len(cmd), 40)])) {
		return cmd
	}
	for from := 0; ; {
		i := strings.Index(cmd[from:], "&& ")
		if i < 0 {
			return cmd
		}
		from += i + len("&& ")
		if low := strings.ToLower(cmd[from:min(len(cmd), from+40)]); effects.Changes(low) {
			return "… && " + cmd[from:]
		}
	}
}

// name returns the name of a call in a line: its command, or the tool with its
// target.
func (c *Call) name() string {
	if cmd := c.Command(); cmd != "" && strings.ContainsAny(cmd, " \n") {
		if cmd = fromCheck(pastHeredocs(shortPaths(cmd, c.base))); c.Outcome != Failed { // for a failed command it is unknown which part failed
			cmd = toCheck(fromEffect(cmd))
		}
		return "`" + shortCommand(cmd) + "`"
	}
	if c.deed() == deedChange {
		return "the edit of " + c.edits()
	}
	if t := c.Target(); t != "" {
		return "`" + c.Tool + "` " + strings.ReplaceAll(prose.CutText(prose.Squash(shortPaths(t, c.base)), maxTarget), "`", "'")
	}
	return "`" + c.Tool + "`"
}

// status returns the exit status as a suffix of a line, "" if it is not stated.
func (c *Call) status() string {
	if c.Exit < 0 {
		return ""
	}
	return " (exit " + itoa(c.Exit) + ")"
}

// tell describes a call and its outcome in a sentence, in the words of the
// result. It states no outcome if the outcome is unknown.
func (c *Call) tell() string {
	switch how := c.cutOff(); {
	case c.Outcome == Failed && how != "":
		return c.tellCut(how)
	case c.Outcome == Failed && refusedCall(c.Result):
		return c.name() + " was not carried out" + colon(c.wrong())
	case c.Outcome == Failed && c.deed() == deedLook && c.Exit == 1:
		return c.name() + " ended with exit 1" + colon(c.complaint())
	case c.Outcome == Failed:
		return c.name() + " failed" + c.status() + c.tried() + colon(c.wrong()) + c.missingIn()
	case c.Outcome == OK && c.deed() == deedCheck:
		return c.passedName() + " passed" + c.status() + colon(c.Says) + c.besides(c.Says)
	case c.Outcome == OK && c.Exit >= 0 && !checks.HidesStatus(c.Command()):
		return "ran " + c.name() + c.more() + c.status() + printed(c.lastWords())
	case c.deed() == deedCall:
		return "called " + c.name() + c.answer()
	}
	words := c.lastWords()
	return "ran " + c.name() + c.more() + printed(words) + c.besides(words) + c.unstated(words)
}

// missingIn names the folder in which a command found nothing, if most commands ran in
// another one. It has no backticks, which mark commands.
func (c *Call) missingIn() string {
	if c.elsewhere == "" || !prose.HasAny(strings.ToLower(c.wrong()), []string{"not a git repository", "no such file", "does not exist"}) {
		return ""
	}
	return " (in " + shortPaths(c.elsewhere, c.base) + ")"
}

// tried returns the arguments of a failed call of a tool, in brackets. If one of six edits
// of a document failed, the reader has to know which one.
func (c *Call) tried() string {
	if asked := strings.TrimSpace(argsBrief(c)); asked != "" && c.deed() == deedCall {
		return " (" + asked + ")"
	}
	return ""
}

// silent reports whether a call printed nothing.
func (c *Call) silent() bool { return strings.TrimSpace(body(c.Result)) == "" }

// complaint returns the output of a command that printed only one line, which mostly
// states why the command found nothing.
func (c *Call) complaint() string {
	text := strings.TrimSpace(body(c.Result))
	if strings.Contains(text, "\n") {
		return ""
	}
	return prose.Clip(prose.Squash(testrun.Uncolored(text)), maxErrorLine)
}

func colon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

func printed(s string) string {
	if s == "" {
		return ""
	}
	return ", which printed: " + s
}

// wrong returns the line that states the error.
func (c *Call) wrong() string {
	if said := c.objection(); said != "" {
		return "the user refused it and said: “" + said + "”"
	}
	if c.Says == "" || c.Outcome != Failed {
		if words := recordWords(c.news(recordOf(body(c.Result)))); words != "" && c.Command() == "" {
			return prose.Clip(words, maxErrorLine)
		}
		return c.ErrorLine()
	}
	if testrun.Wrapper(c.Says) || testrun.Line(c.Says) == testrun.Success {
		return cmp.Or(c.ErrorLine(), c.Says)
	}
	return c.Says + reasonOf(c.Result, c.Says)
}

// maxReport is the number of bytes at the end of an output that are searched
// for failures that the exit status hides.
const maxReport = 8 << 10

// maxWords is the maximum length of a quotation from an output or answer, in
// characters.
const maxWords = 140

// maxNested is the maximum length, in characters, of a quoted record that only contains
// other records. Such a record says little.
const maxNested = 60

// addressIn returns the address, or else the number or id, in a result in JSON. A reader
// can find the created object by this address. addressIn returns "" for other results.
func addressIn(result string) string {
	fields := recordOf(result)
	for _, key := range []string{"html_url", "url", "number", "id"} {
		for i := range fields {
			if f := &fields[i]; f.name == key && f.text != "" && !f.nested() {
				return key + ": " + f.text
			}
		}
	}
	return ""
}

// tellingStarts lists beginnings of lines that state the effect of a command, or the
// reason why it did nothing. idleStarts lists beginnings of lines that give advice or
// repeat the command.
var (
	tellingStarts = []string{"successfully ", "error: ", "fatal: ", "failed to ", "up to date, ", "plan: ", "apply complete!", "✓ ", "✔ "}
	idleStarts    = []string{"dropped refs/stash", "$ ", "> ", "warning: running pip", "run `", "run 'npm", "hint:", "usage:", "finished in ", "npm notice", "[notice]", "for more information", "to address ", "note: ", "create mode ", "delete mode ", "debugger attached.", "waiting for the debugger to disconnect", "-h, --help", "see ", "done in "}
)

// published reports whether a line is npm's line about a published version: "+ shop@1.2.0".
func published(line string) bool {
	name, ok := strings.CutPrefix(line, "+ ")
	at := strings.LastIndexByte(name, '@')
	return ok && at > 0 && !strings.ContainsAny(name, " \t") && at+1 < len(name) && name[at+1] >= '0' && name[at+1] <= '9'
}

// installed reports whether a line in lower case is npm's line about added or changed packages.
func installed(low string) bool {
	rest, ok := strings.CutPrefix(low, "added ")
	if !ok {
		rest, ok = strings.CutPrefix(low, "changed ")
	}
	n, rest, _ := strings.Cut(rest, " ")
	return ok && prose.IsDigits(n) && strings.HasPrefix(rest, "package")
}

// committed reports whether a line is git's line about a new commit:
// "[main 1a2b3c4] subject".
func committed(line string) bool {
	rest, ok := strings.CutPrefix(line, "[")
	head, _, closed := strings.Cut(rest, "] ")
	words := strings.Fields(head)
	return ok && closed && len(words) >= 2 && len(words[len(words)-1]) >= 7 && strings.Trim(words[len(words)-1], "0123456789abcdef") == ""
}

// idle reports whether a line in lower case says nothing about the outcome.
func idle(low string) bool {
	if prose.BeginsAny(low, idleStarts) || strings.HasPrefix(low, "-") && strings.Contains(low, "--") {
		return true
	}
	_, rest, ok := strings.Cut(low, "] ")
	return ok && low[0] == '[' && strings.HasPrefix(rest, "$ ") // "[lint] $ golangci-lint run"
}

// unquoted removes the punctuation of JSON from an answer.
var unquoted = strings.NewReplacer(`":`, ": ", `,"`, ", ", `"`, "", "{", "", "}", "", "[", "", "]", "", `\n`, " ")

// answer describes the arguments of a call and the beginning of its result.
func (c *Call) answer() string {
	asked := ""
	if a := argsBrief(c); a != "" {
		asked = " with" + a
	}
	if said := c.pageAnswer(); said != "" {
		return asked + ", and the page says: “" + said + "”"
	}
	if c.echoes() {
		return asked
	}
	result := body(c.Result)
	text := beginning(result, 3*maxWords)
	if words := c.recordBrief(); words != "" {
		text = words
	} else if first := c.confirmation(); first != "" {
		text = first
	} else if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if plain := prose.Squash(unquoted.Replace(text)); !strings.HasSuffix(plain, ":") { // a member without a value
			text = plain
		}
	}
	if text = strings.TrimSpace(text); text == "" {
		return asked + nothingIn(result)
	}
	return asked + ", which returned: " + prose.CutText(text, 2*maxWords)
}

// confirmation returns the first line of a long result that begins with a success. The rest
// mostly repeats the sent text. It returns "" for other results.
func (c *Call) confirmation() string {
	result := body(c.Result)
	first := prose.Squash(firstLine(result))
	if len(result) <= 4*maxWords || len(first) > maxWords || !strings.HasPrefix(strings.TrimLeft(strings.ToLower(first), "# "), "successfully ") {
		return ""
	}
	return first
}

// beginning returns about the first n bytes of a result, on one line and without the
// navigation of a page. It keeps two of many lines that differ only in their numbers, but
// all rows of a short table, because these rows are the answer.
func beginning(result string, n int) string {
	var b strings.Builder
	form, alike, whole := "", 0, len(result) <= n && strings.Contains(result, " | ")
	for line := range strings.Lines(result[:min(len(result), mostDigested)]) {
		if b.Len() >= n {
			break
		}
		line = line[:min(len(line), n)]
		if now := withoutDigits(line); now == form {
			alike++
		} else {
			form, alike = now, 1
		}
		switch {
		case navigates(strings.TrimSpace(line)), ruleOfTable(strings.TrimSpace(line)):
		case whole || alike <= mostAlike:
			b.WriteString(line + " ")
		case alike == mostAlike+1:
			b.WriteString("… ")
		}
	}
	return prose.Squash(b.String())
}

// ruleOfTable reports whether a line only separates the rows of a table, or counts them.
func ruleOfTable(line string) bool {
	return len(line) > 2 && strings.Trim(line, "-+=| ") == "" || strings.HasSuffix(line, " in set") && prose.IsDigits(line[:1]) || strings.HasPrefix(line, "(") && frameOfTable(line)
}

// mostAlike is the maximum number of lines in a row that differ only in their numbers.
const mostAlike = 2

// nothingIn describes a result that is an empty JSON value.
func nothingIn(result string) string {
	switch strings.TrimSpace(result) {
	case "[]", "{}", "null":
		return ", which returned: " + strings.TrimSpace(result)
	}
	return ""
}

// folderOf returns the part of a path before its last slash.
func folderOf(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}
