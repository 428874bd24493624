package strategy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// Members of a JSON object that name a tool, and members with its arguments.
var (
	toolMembers = []string{"tool_name", "toolName", "tool", "name", "action", "command", "function", "recipient_name"}
	argsMembers = []string{"arguments", "args", "parameters", "params", "input", "action_input", "tool_input"}
)

// finalNames are names of actions that only give the answer to the user.
var finalNames = []string{"final answer", "final_answer", "finalanswer"}

// actionAtEnd returns the action in JSON at the end of a text, in a fenced block or bare, and the
// text without it. A final answer is a text and not a call.
func actionAtEnd(text string) (calls []Call, rest string) {
	before, data := jsonAtEnd(text)
	name, args := jsonAction([]byte(data), 0)
	answer := ""
	switch {
	case name == "":
	case slices.Contains(finalNames, strings.ToLower(name)):
		if json.Unmarshal(args, &answer) == nil {
			return nil, strings.TrimSpace(join(before, answer))
		}
	case !strings.ContainsAny(name, " \n"):
		c := readCall(&message.Part{Kind: message.KindToolCall, Name: name, Args: args})
		c.nameInput()
		return []Call{c}, before
	}
	return nil, text
}

// shellTools are names of tools that run a command line, besides the names of shells.
var shellTools = []string{"terminal", "shell", "execute_bash", "run_command"}

// nameInput names the input of an action that is one string: a command line, or code.
func (c *Call) nameInput() {
	if len(c.Args) != 1 || c.Args[0].Name != "input" {
		return
	}
	switch name := strings.ToLower(c.Tool); {
	case slices.Contains(shells, name), slices.Contains(shellTools, name):
		c.Args[0] = Arg{"command", shell.OneLine(c.Args[0].Value)}
	case strings.HasPrefix(name, "python"):
		c.Args[0].Name = "code"
	}
}

// jsonAtEnd returns the JSON object with which a text ends, and the text before it. It returns
// "" for data if the text ends with something else.
func jsonAtEnd(text string) (before, data string) {
	text = strings.TrimSpace(text)
	body, fenced := strings.CutSuffix(text, "```")
	if fenced {
		start := strings.LastIndex(body, "```")
		if start < 0 {
			return "", ""
		}
		label, block, ok := strings.Cut(body[start+len("```"):], "\n")
		if label = strings.ToLower(strings.TrimSpace(label)); !ok || label != "" && label != "json" {
			return "", ""
		}
		return actionLabel(body[:start]), block
	}
	start := 0
	if !strings.HasPrefix(text, "{") {
		start = strings.Index(text, "\n{") + 1
	}
	if start == 0 && !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return "", ""
	}
	return actionLabel(text[:start]), text[start:]
}

// actionLabel returns a text without the label of the action that follows it.
func actionLabel(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, "Action:"), "ACTION:"))
}

// jsonAction returns the name and the arguments of an action: a member that names the tool beside
// a member with the arguments, or an object of this form as a member.
func jsonAction(data []byte, depth int) (name string, args json.RawMessage) {
	var members map[string]json.RawMessage
	if depth > 1 || json.Unmarshal(data, &members) != nil {
		return "", nil
	}
	for _, key := range argsMembers {
		if args == nil {
			args = members[key]
		}
	}
	for _, key := range toolMembers {
		value := members[key]
		if args != nil && json.Unmarshal(value, &name) == nil && name != "" {
			return name, args
		}
		if inner, of := jsonAction(value, depth+1); inner != "" {
			return inner, of
		}
	}
	return "", nil
}
