package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A statement is the failure that the result of an effect states.
type statement uint8

const (
	statesNone    statement = iota
	statesDoubt             // the result mentions a failure, and it is unclear what failed
	statesFailure           // the effect did not happen
)

// judgeEffect reads from the result of an effect whether the effect failed. If a summary
// said "done, do not repeat" about an effect that never happened, the agent would leave it
// undone. An unclear result therefore counts as neither done nor failed.
func (c *Call) judgeEffect() {
	if c.Outcome == Failed || !c.Answered || running(c.Result) || !c.attempts() || c.pressesCommit() {
		return
	}
	how, says := c.statement()
	if how == statesFailure && c.Command() != "" && (c.effectsIn() > 1 || c.changes() || c.Check()) {
		how = statesDoubt // another part of the command may have been carried out
	}
	if says = strings.TrimLeft(says, "│ "); testrun.Wrapper(says) {
		says = cmp.Or(c.ErrorLine(), says)
	}
	switch how {
	case statesFailure:
		c.Outcome, c.Says = Failed, prose.Clip(prose.Squash(says), maxErrorLine)
	case statesDoubt:
		c.doubt = true
		if !c.Check() {
			c.Outcome, c.Says = Unknown, prose.Clip(prose.Squash(says), maxErrorLine)
		}
	}
}

// statement returns the failure that a result states, and its words. Structured data
// takes precedence over text.
func (c *Call) statement() (statement, string) {
	text, cmd := body(c.Result), c.Command()
	if c.effectHidden() {
		return statesDoubt, ""
	}
	if cmd != "" && c.Exit == 0 && !checks.HidesStatus(cmd) && !strings.Contains(cmd, "curl ") { // curl ends with 0 for every answer of the server
		return statesNone, ""
	}
	if page := errorPage(text); page != "" {
		return statesFailure, page
	}
	if fields := recordOf(text); len(fields) > 0 {
		return c.recordStates(fields)
	}
	if cmd != "" {
		return c.outputStates(text)
	}
	return c.answerStates(text)
}

// badStates are states of an action that was not done.
var badStates = []string{"failed", "failure", "error", "errored", "rejected", "declined", "denied", "refused", "forbidden", "unauthorized", "invalid", "aborted", "notfound", "timeout", "timedout", "fail"}

// goodStates are states of an action that was done.
var goodStates = []string{"ok", "success", "succeeded", "successful", "completed", "complete", "created", "sent", "confirmed", "booked", "accepted", "applied", "done", "queued"}

// recordStates returns the failure that a record states, and its words.
func (c *Call) recordStates(fields []field) (statement, string) {
	bad, certain, good, made := false, false, false, false
	for i := range fields {
		f := &fields[i]
		switch k := f.key; {
		case k == "ok" || k == "success" || k == "succeeded" || k == "successful":
			certain, good = certain || f.text == "false", good || f.text == "true"
		case k == "iserror":
			certain = certain || f.text == "true"
		case slices.Contains(errorKeys, k):
			bad = bad || statesError(f)
		case slices.Contains(stateKeys, k):
			bad, good = bad || c.badState(f), good || slices.Contains(goodStates, plainKey.Replace(strings.ToLower(f.text)))
		case f.text == "0" && strings.HasSuffix(k, "ed") && c.asksFor(k): // "removed: 0" of remove_user
			bad = true
		case k == "data":
			good = good || f.text != ""
		case k == "id" || k == "number" || strings.HasPrefix(k, "confirmation"):
			made = made || f.text != "" && f.text != "0"
		}
	}
	switch {
	case certain && !good, bad && !certain && !good && !made:
		return statesFailure, recordWords(fields)
	case certain || bad:
		return statesDoubt, recordWords(fields)
	}
	return statesNone, ""
}

// errorKeys are keys of members that hold an error.
var errorKeys = []string{"error", "errors", "err", "errmsg", "errormessage", "errorcode"}

// statesError reports whether a member of errorKeys holds an error.
func statesError(f *field) bool {
	switch strings.ToLower(f.text) {
	case "", "false", "0", "none", "null", "ok", "no error":
		return false
	}
	return true
}

// badState reports whether the state of a record means that the action was not done. A
// state that the call asked for does not count: a call can decline an invitation, or set
// the state itself.
func (c *Call) badState(f *field) bool {
	state := plainKey.Replace(strings.ToLower(f.text))
	if f.key != "result" && f.key != "outcome" && len(state) == 3 && prose.IsDigits(state) {
		return state[0] == '4' || state[0] == '5'
	}
	by := strings.HasPrefix(state, "cancelledby") || strings.HasPrefix(state, "canceledby")
	if f.nested() || !by && !slices.Contains(badStates, state) || c.asksFor(state) {
		return false
	}
	return !slices.ContainsFunc(c.Args, func(a Arg) bool { return strings.EqualFold(a.Value, f.text) })
}

var camelHump = lazy.Compile(`([a-z0-9])([A-Z])`)

// verbStem is the number of letters in which the forms of a verb agree.
const verbStem = 4

// asksFor reports whether a word is a form of a word in the name of the tool, such as
// "declined" for decline_invitation.
func (c *Call) asksFor(word string) bool {
	return slices.ContainsFunc(toolWords(c.Tool), func(w string) bool {
		return len(w) >= 3 && strings.HasPrefix(word, w[:min(len(w), verbStem)])
	})
}

// toolWords returns the words of a name in snake case, or in camel case that begins with
// a small letter.
func toolWords(tool string) []string {
	low := strings.ToLower(tool)
	if tool != low && tool[0] >= 'a' && tool[0] <= 'z' && !strings.ContainsAny(tool, "_-.") {
		low = strings.ToLower(camelHump.ReplaceAllString(tool, "${1}_$2"))
	}
	return strings.FieldsFunc(low, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
}
