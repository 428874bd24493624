package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// resultHead matches the line with which a harness begins the result of a call that the model
// wrote as an element of its text: "[read_file for 'src/tax.ts'] Result:".
var resultHead = lazy.Compile(`(?m)^\[([a-z][a-z0-9_]*)(?: [^\n]*)?\] Result:[ \t]*\r?$`)

// elementResult reports whether a text begins with such a line.
func elementResult(text string) bool {
	at := resultHead.FindStringIndex(text)
	return at != nil && at[0] == 0
}

// elementResults adds the calls that the last message wrote as elements, with the results in a
// text. It returns the words of the user in the results, because a harness passes on what the user
// answered, or why the user refused a call.
func (b *reader) elementResults(text string) (words string) {
	n := len(b.h.Steps)
	if n == 0 || b.h.Steps[n-1].Role != message.RoleAssistant {
		return ""
	}
	last := &b.h.Steps[n-1]
	heads := resultHead.FindAllStringIndex(text, maxResults)
	for i, place := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		result, said := wordsIn(text[place[1]:end])
		words = strings.TrimSpace(join(words, said))
		if c, rest, ok := elementCall(last.Text, headed(text[place[0]:place[1]])); ok {
			c.Result, c.Answered, last.Text = strings.TrimSpace(withoutTags(result)), true, rest
			b.h.index.call = at{n - 1, len(last.Calls)}
			b.args(&c, last.ID)
			last.Calls = append(last.Calls, c)
		}
	}
	return words
}

// headed returns the name of the tool in the head of a result.
func headed(head string) string { return tagName(head[1:]) }

// maxResults is the maximum number of results that are read from one message.
const maxResults = 40

// elementCall returns the first element of a text with a name as a call, and the text without
// it. The children of the element are the arguments. A child with words for the user stays.
func elementCall(text, name string) (c Call, rest string, ok bool) {
	before, inner, found := strings.Cut(text, "<"+name+">")
	inner, after, closed := strings.Cut(inner, "</"+name+">")
	if !found || !closed {
		return c, text, false
	}
	c = Call{Tool: name, Exit: -1}
	for inner != "" {
		_, child, _ := strings.Cut(inner, "<")
		arg := tagName(child)
		value, next, closed := strings.Cut(strings.TrimPrefix(child, arg+">"), "</"+arg+">")
		if inner = child; arg == "" || !closed || !strings.HasPrefix(child, arg+">") {
			continue
		}
		value, inner = strings.Trim(value, "\r\n"), next
		c.Args = append(c.Args, childArgs(arg, value)...)
		if slices.Contains(spokenChildren, arg) {
			before = join(strings.TrimSpace(before), value)
		}
	}
	return c, strings.TrimSpace(before + after), true
}

// spokenChildren are children of elements with words for the user.
var spokenChildren = []string{"question", "result", "response"}

// childArgs returns a child as arguments. Search/replace blocks become the old and the new text.
func childArgs(name, value string) []Arg {
	edits := textEdits("file.txt\n" + value + "\n")
	if len(edits) == 0 {
		return []Arg{{name, value}}
	}
	var gone, added strings.Builder
	for _, e := range edits {
		gone.WriteString(e.old)
		added.WriteString(e.new)
	}
	return []Arg{{"old_string", gone.String()}, {"new_string", added.String()}}
}

// answerTags are elements of a result with the words of the user.
var answerTags = []string{"answer", "feedback", "user_message"}

// wordsIn splits a result from the words of the user in it.
func wordsIn(text string) (result, words string) {
	for _, tag := range answerTags {
		before, rest, ok := strings.Cut(text, "<"+tag+">")
		said, after, closed := strings.Cut(rest, "</"+tag+">")
		if ok && closed {
			text, words = before+after, strings.TrimSpace(said)
		}
	}
	return text, words
}
