package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// Effect reports whether the call changed something outside of the conversation, and no
// failure of it is known. Such a call must not be repeated. Changes of files do not count;
// see Call.files.
func (c *Call) Effect() bool {
	if c.Outcome == Failed || c.doubt || !c.Answered || running(c.Result) || !c.attempts() {
		return false
	}
	if c.pressesCommit() {
		return c.pageAnswer() != ""
	}
	_, proven := verbOf(c.Tool)
	return !proven || c.Command() != "" || c.mutates() || c.reportsChange()
}

// attempts reports whether a call is of a kind that changes something outside, whether or
// not it succeeded.
func (c *Call) attempts() bool {
	if c.mutates() {
		return true
	}
	if cmd := c.Command(); cmd != "" {
		result := c.Result[:min(len(c.Result), 4*edge)]
		if effects.SaysWould(body(c.Result)) {
			return false
		}
		return slices.ContainsFunc(effects.Parts(cmd), func(part string) bool { return !effects.DidNothing(part, result) }) || effects.ChangesRows(cmd, result)
	}
	if len(c.files) > 0 || c.rehearses() {
		return false
	}
	if c.sends() {
		return true
	}
	if changesRows(c.arg("q", "query", "sql", "statement")) {
		return true
	}
	if d := c.deed(); d != deedCall && d != deedLook && d != deedRun {
		return false
	}
	verb, _ := verbOf(c.Tool)
	return verb != "" || c.pressesCommit()
}

// sends reports whether a tool sends an HTTP request that changes something. A search can be a
// POST, too.
func (c *Call) sends() bool {
	to := strings.ToLower(c.arg("url", "endpoint", "uri"))
	return to != "" && !prose.HasAny(to, []string{"search", "query", "graphql"}) && slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, strings.ToUpper(c.arg("method", "http_method")))
}

// changingRows matches the beginning of a lower-case statement that changes a database.
var changingRows = lazy.Compile(`^(?:(?:create|alter|drop) (?:or replace )?(?:temp |temporary |unique |materialized )*(?:table|view|index|function|procedure|schema|type|role|user|database|trigger|sequence|column|policy) \S|insert into \S|update \S+ set \S|delete from \S|truncate (?:table )?\S+;?$|(?:grant|revoke) .* on .* (?:to|from) \S|merge into \S|replace into \S|call \S+\()`)

// changesRows reports whether a text has a statement that changes a database, alone or in a
// transaction.
func changesRows(statement string) bool {
	for one := range strings.SplitSeq(strings.ToLower(statement[:min(len(statement), edge)]), ";") {
		if changingRows.MatchString(prose.Squash(one)) {
			return true
		}
	}
	return false
}

// rehearsing lists arguments, without marks, with which a tool only shows its effects and
// does not cause them.
var rehearsing = []string{"dryrun", "simulate", "preview", "validateonly", "checkonly", "whatif", "noop", "testmode"}

// rehearses reports whether a call has such an argument.
func (c *Call) rehearses() bool {
	return slices.ContainsFunc(c.Args, func(a Arg) bool {
		return a.Value == "true" && slices.Contains(rehearsing, plainKey.Replace(strings.ToLower(a.Name)))
	})
}

// maxArgument is the maximum length of an argument in a line, in bytes. A longer argument
// is left out. In a call that changes something outside, a text in wordsArgs is cut
// instead, so that two comments differ.
const maxArgument = 60

var wordsArgs = []string{"body", "text", "message", "comment", "content", "subject", "title", "note", "description", "new", "new_text", "value"}

// argsBrief returns the short arguments of a call besides its target.
func argsBrief(c *Call) string {
	if c.Command() != "" {
		return ""
	}
	target := c.Target()
	var b strings.Builder
	args := ownFirst(c.Args)
	for i, a := range args {
		if i > 0 && a.Name == args[i-1].Name {
			continue // the first element of the list stands for all
		}
		if list := listAt(args, i); list != "" && b.Len() <= 160 {
			b.WriteString(" " + a.Name + "=" + list)
			continue
		}
		value := prose.Squash(a.Value)
		if len(value) > maxArgument && slices.Contains(wordsArgs, a.Name) && c.attempts() {
			value = prose.Quoted(value, maxArgument)
		}
		if a.Value == target || len(a.Value) > maxArgument && value == prose.Squash(a.Value) || b.Len() > 160 {
			continue
		}
		b.WriteString(" " + a.Name + "=" + value)
	}
	return b.String()
}

// ownFirst returns arguments in the order in which a line names them: the members of the elements
// of a list, which occur again and again, follow the others.
func ownFirst(args []Arg) []Arg {
	times := map[string]int{}
	for i, a := range args {
		if i == 0 || a.Name != args[i-1].Name { // the elements of a plain list are one argument
			times[a.Name]++
		}
	}
	out := slices.Clone(args)
	slices.SortStableFunc(out, func(a, b Arg) int { return min(times[a.Name], 2) - min(times[b.Name], 2) })
	return out
}

// listAt returns the elements of a list of short arguments that begins at i, "" if there is
// only one.
func listAt(args []Arg, i int) string {
	var list []string
	for _, a := range args[i:] {
		if a.Name != args[i].Name || len(a.Value) > maxArgument {
			break
		}
		list = append(list, prose.Squash(a.Value))
	}
	if len(list) < 2 {
		return ""
	}
	return prose.CutText(strings.Join(list, ","), maxArgument)
}

// Check reports whether the call ran tests, a build or a linter.
func (c *Call) Check() bool {
	cmd := c.Command()
	return cmd != "" && shell.Any(shell.WithoutHeredocs(cmd), checks.Begins)
}
