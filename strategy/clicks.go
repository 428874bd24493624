package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// clickWords are words in the names of tools that press a button of a page. pressedVerbs
// begin the labels of buttons that commit something: "Buy now".
var (
	clickWords   = []string{"click", "tap", "press"}
	pressedVerbs = []string{"pay", "buy", "confirm", "order", "place", "purchase", "book", "submit", "send", "delete", "remove", "save", "cancel", "publish", "post", "transfer", "reserve", "subscribe", "unsubscribe"}
)

// pressesCommit reports whether a call presses a button whose label says that it commits
// something.
func (c *Call) pressesCommit() bool {
	if !slices.ContainsFunc(toolWords(c.Tool), func(w string) bool { return slices.Contains(clickWords, w) }) {
		return false
	}
	label := strings.ToLower(strings.TrimLeft(c.arg("element", "label", "text", "name", "description", "selector"), " \"'“«"))
	first, _, _ := strings.Cut(strings.TrimPrefix(label, "button "), " ")
	return slices.Contains(pressedVerbs, strings.Trim(first, `.,:;"'”»`))
}

// answeringRoles are the roles of the lines in which a page answers a click. On a short
// page, every line counts.
var answeringRoles = []string{"alert", "status", "heading", "dialog", "alertdialog"}

const shortPage = 300

// pageAnswer returns the words with which a page states the effect of a click, "" if
// there are none.
func (c *Call) pageAnswer() string {
	if !c.pressesCommit() {
		return ""
	}
	text := strings.TrimSpace(testrun.Uncolored(body(c.Result)))
	for line := range strings.Lines(text[:min(len(text), mostDigested)]) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-* ")
		role, rest, _ := strings.Cut(line, " ")
		if len(text) > shortPage && !slices.Contains(answeringRoles, strings.TrimSuffix(role, ":")) {
			continue
		}
		said := line
		if len(text) > shortPage {
			said = rest
		}
		said = strings.TrimSpace(said)
		if i := strings.LastIndex(said, " [ref="); i > 0 {
			said = said[:i]
		}
		if said = strings.Trim(said, `"`); said != "" && (strings.HasPrefix(strings.ToLower(said), "thank") || saysChanged(said, "")) {
			return prose.CutText(prose.Squash(said), maxWords)
		}
	}
	return ""
}
