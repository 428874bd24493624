package strategy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// provenVerbs lists words in the names of tools that change something only if the result
// says so. The same words also name objects: issue_voucher issues one, issue_details does not.
var provenVerbs = []string{"issue", "change", "approve", "reject", "assign", "unassign", "upload", "rename", "archive", "unarchive", "replace", "move", "close", "reopen", "resolve", "confirm",
	"order", "buy", "purchase", "charge", "invite", "share", "comment", "reply", "react", "label", "revoke", "restore", "stop", "start", "restart", "trigger", "suspend", "activate", "deactivate",
	"save", "withdraw", "deposit", "release", "lock", "unlock", "insert", "notify", "subscribe", "unsubscribe", "pause", "resume", "rotate", "undo", "open", "reverse", "revert", "void", "credit", "debit", "apply", "register"}

// describingNouns lists words after which a tool describes an object: refund_status.
// planningWords lists words of tools that only predict an effect, and screenWords
// lists words of tools that move something on a screen.
var (
	describingNouns = []string{"status", "state", "detail", "details", "info", "history", "log", "logs", "report", "stats", "policy", "rules", "options", "notes", "items", "summary", "total", "rate", "rates", "limits"}
	planningWords   = []string{"plan", "quote", "estimate", "simulate", "dry", "dryrun", "diff", "compare"}
	screenWords     = []string{"browser", "mouse", "cursor", "tab", "window", "scroll", "screen"}
)

// verbOf returns the word of a tool's name that changes something, "" for none. proven is
// true if only the result can tell that it did.
func verbOf(tool string) (verb string, proven bool) {
	words := toolWords(tool)
	if slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(effects.AskingVerbs, w) || slices.Contains(planningWords, w)
	}) {
		return "", false
	}
	for i, w := range words {
		hard := slices.Contains(effects.Verbs, w)
		if !hard && (!slices.Contains(provenVerbs, w) || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(screenWords, w) }) || w == "open" && shownWhenOpen(words)) {
			continue
		}
		if i+1 < len(words) && (!hard || pastForms[w] == "") && slices.Contains(describingNouns, words[i+1]) && !slices.Contains(plainVerbs, w) {
			return "", false
		}
		return w, !hard
	}
	return "", false
}

// shownWhenOpen reports whether a tool that opens something only shows it: open_file, but not
// open_issue.
func shownWhenOpen(words []string) bool {
	return len(words) < 2 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(shownThings, w) })
}

// shownThings are what tools open to show it.
var shownThings = []string{"file", "files", "doc", "document", "page", "url", "link", "image", "app", "editor", "notebook", "folder", "dir", "directory", "workspace", "project", "terminal", "shell", "view"}

// plainVerbs lists verbs that are never nouns: update_status sets the status.
var plainVerbs = []string{"create", "update", "delete", "modify", "send", "submit", "publish", "toggle", "enable", "disable", "add", "remove", "set", "approve", "reject", "assign", "rename", "upload", "save", "resolve"}

// reportsChange reports whether the result of a tool says that something was changed.
func (c *Call) reportsChange() bool {
	result := body(c.Result)
	if fields := recordOf(result); len(fields) > 0 {
		return slices.ContainsFunc(fields, c.memberReports)
	}
	verb, _ := verbOf(c.Tool)
	return confirmed(result) || saysChanged(firstLine(result), verb)
}

// memberReports reports whether a member of a record says that something was changed: a
// success, a state, a number of changes, or the id of a new object. A state counts if it
// belongs to the tool's own verb, as "changed" belongs to change_booking.
func (c *Call) memberReports(f field) bool {
	if f.nested() || f.text == "" {
		return false
	}
	low := strings.ToLower(f.text)
	switch k := f.key; {
	case k == "ok" || k == "success" || k == "succeeded" || k == "successful":
		return low == "true"
	case low == "true" && participle(k) && !slices.Contains(idleParticiples, k):
		return true
	case slices.Contains(stateKeys, k):
		state := plainKey.Replace(low)
		return slices.Contains(goodStates, state) || participle(state) && c.asksFor(state)
	case prose.IsDigits(low):
		return low != "0" && (participle(k) || k == "replacements" || k == "rows" || k == "id" || k == "number" || strings.HasSuffix(k, "id"))
	case k == "message" || k == "detail":
		verb, _ := verbOf(c.Tool)
		return saysChanged(f.text, verb)
	}
	return coined(f.text) && !c.hasValue([]string{f.text}) || f.key == "id" || f.key == "ref" || f.key == "reference" || strings.HasPrefix(f.key, "confirmation") || f.key == "url" || f.key == "htmlurl"
}

// participle reports whether a word in lower case has the form of a past participle.
func participle(word string) bool {
	return len(word) > 4 && strings.HasSuffix(word, "ed") && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" || slices.Contains([]string{"sent", "paid", "done", "made"}, word)
}

// mostOfStatement is the number of words at the beginning of a line in which a participle
// states the finished action: "Order confirmed: B-773".
const mostOfStatement = 6

// saysChanged reports whether a line of a result states that something was done, with the
// participle of a verb, or of any verb if it is "".
func saysChanged(line, verb string) bool {
	line = testrun.Uncolored(line)
	if verb == "" && deedDone(line) {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	words = words[:min(len(words), mostOfStatement)]
	return slices.ContainsFunc(words, func(w string) bool {
		return participle(w) && (verb == "" || pastOf(w, verb)) && !slices.Contains(badStates, w) && !slices.Contains(idleParticiples, w)
	}) &&
		!slices.ContainsFunc(words, func(w string) bool { return slices.Contains(negations, w) || slices.Contains(unrealWords, w) })
}

// Words that keep a participle from stating a finished action. idleParticiples describe
// objects and requests; after unrealWords, the action is not finished yet.
var (
	idleParticiples = []string{"required", "needed", "expected", "allowed", "related", "supported", "based", "named", "called", "used", "indeed", "need", "speed", "feed", "found", "unchanged", "skipped", "expired", "missed", "interested"}
	unrealWords     = []string{"can", "will", "would", "must", "should", "could", "may", "if", "when", "to", "no", "nothing"}
)

// touches reports whether a tool with the path of a file reads or changes that file. Another
// tool only refers to it: a comment can be about a line of a file.
func (c *Call) touches() bool {
	if c.op() != fileops.Read {
		return true
	}
	if hasWord(strings.ToLower(c.arg("command", "action", "operation")), lookTools) {
		return true // an editor with several operations: str_replace_editor views a file
	}
	if verb, _ := verbOf(c.Tool); verb != "" {
		return false
	}
	return !strings.ContainsAny(c.Tool, "_-.") || hasWord(strings.ToLower(c.Tool+"_"+c.arg("command", "action", "operation")), slices.Concat(lookTools, effects.AskingVerbs, []string{"open", "load", "parse", "file", "editor", "symbols", "outline"}))
}
