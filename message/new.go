package message

import "encoding/json"

func made(role Role, parts ...Part) Message {
	return Message{Role: role, Parts: parts, memo: new(memo)}
}

// System returns a system message.
func System(text string) Message { return made(RoleSystem, Part{Kind: KindText, Text: text}) }

// Developer returns a developer message.
func Developer(text string) Message { return made(RoleDeveloper, Part{Kind: KindText, Text: text}) }

// User returns a user message.
func User(text string) Message { return made(RoleUser, Part{Kind: KindText, Text: text}) }

// Assistant returns an assistant message with text, tool calls, or both. An
// empty text adds no part.
func Assistant(text string, calls ...Part) Message {
	var parts []Part
	if text != "" || len(calls) == 0 {
		parts = append(parts, Part{Kind: KindText, Text: text})
	}
	return made(RoleAssistant, append(parts, calls...)...)
}

// Call returns a tool call for [Assistant]. args is a JSON object.
func Call(id, name, args string) Part {
	return Part{Kind: KindToolCall, CallID: id, Name: name, Args: json.RawMessage(args)}
}

// ToolResult returns the message that answers the call with this id.
func ToolResult(callID, text string) Message {
	return made(RoleTool, Part{Kind: KindToolResult, CallID: callID, Text: text})
}
