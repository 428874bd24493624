package main

import (
	"encoding/json"
	"fmt"

	"github.com/agentcompact/compact/message"
)

// checkFormat refuses the wires that can't be read yet.
func checkFormat(format string) error {
	switch format {
	case "auto", "openai":
		return nil
	case "anthropic", "responses", "gemini":
		return &usageError{fmt.Errorf("--format %s is to come; this version reads openai (chat completions)", format)}
	}
	return &usageError{fmt.Errorf("unknown --format %q: auto, openai, anthropic, responses or gemini", format)}
}

// otherWire returns the wire that messages seem to be of, where that is not
// chat completions: read as such, their calls and results would not be seen,
// and could be torn apart.
func otherWire(msgs []message.Message) (wire string, index int) {
	for i, m := range msgs {
		if m.Role == "model" {
			return "gemini", i
		}
		for _, p := range m.Parts {
			if p.Kind != message.KindOther {
				continue
			}
			var part struct{ Type string }
			if json.Unmarshal(p.Args, &part) != nil {
				continue
			}
			switch part.Type {
			case "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use":
				return "anthropic", i
			case "function_call", "function_call_output":
				return "responses", i
			}
		}
	}
	return "", 0
}
