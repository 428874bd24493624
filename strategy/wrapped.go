package strategy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// callers are tools that only call another tool, which an argument names.
var callers = []string{"execute_tool", "call_tool", "use_mcp_tool", "run_tool", "invoke_tool", "mcp_call_tool"}

// unwrap makes a call of a tool that only calls another tool a call of that tool.
func (c *Call) unwrap(data []byte) {
	if !slices.Contains(callers, strings.ToLower(c.Tool)) {
		return
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(data, &in) != nil {
		return
	}
	name, args := "", json.RawMessage(nil)
	for _, key := range []string{"tool_name", "toolName", "tool", "name"} {
		if name == "" {
			_ = json.Unmarshal(in[key], &name)
		}
	}
	for _, key := range []string{"arguments", "args", "parameters", "params", "input"} {
		if args == nil {
			args = in[key]
		}
	}
	if text := ""; json.Unmarshal(args, &text) == nil {
		args = json.RawMessage(text)
	}
	if name != "" && !strings.ContainsAny(name, " \n") && len(args) > 0 && args[0] == '{' && json.Valid(args) {
		c.Tool, c.Args = name, readArgs(args)
	}
}

// A content is a part of a result in the form of the Model Context Protocol.
type content struct {
	Type string  `json:"type"`
	Text *string `json:"text"`
}

// withoutContent returns the texts of a result in the form of the Model Context Protocol: a
// list of parts. Without the list, "Error: " marks a failure. It returns any other result
// unchanged.
func withoutContent(result string) string {
	data := strings.TrimSpace(result)
	if !strings.HasPrefix(data, `[{`) && !strings.HasPrefix(data, `{"content"`) || len(data) > mostDigested || !strings.Contains(data, `"text"`) {
		return result
	}
	var parts []content
	failed := false
	if data[0] == '{' {
		var of struct {
			Content []content `json:"content"`
			Failed  bool      `json:"isError"`
		}
		if json.Unmarshal([]byte(data), &of) != nil {
			return result
		}
		parts, failed = of.Content, of.Failed
	} else if json.Unmarshal([]byte(data), &parts) != nil {
		return result
	}
	var texts []string
	for _, p := range parts {
		if p.Type != "text" || p.Text == nil {
			return result
		}
		texts = append(texts, *p.Text)
	}
	if len(texts) == 0 {
		return result
	}
	text := strings.Join(texts, "\n")
	if failed && !errorResult(text) {
		return "Error: " + text
	}
	return text
}

// withoutRunReport returns the output in a report of the form of Gemini CLI, with the line that
// states the exit status. It returns any other result unchanged.
func withoutRunReport(result string) string {
	if !strings.HasPrefix(result, "Command: ") {
		return result
	}
	_, rest, ok := strings.Cut(result, "\nDirectory: ")
	_, rest, shown := strings.Cut(rest, "\nOutput: ")
	at := strings.LastIndex(rest, "\nError: ")
	if !ok || !shown || at < 0 {
		return result
	}
	output, rest := rest[:at], rest[at+len("\nError: "):]
	wrong, rest, stated := strings.Cut(rest, "\nExit Code: ")
	status, _, _ := strings.Cut(rest, "\n")
	if !stated {
		return result
	}
	var out []string
	if _, err := strconv.Atoi(status); err == nil {
		out = append(out, "Exit Code: "+status)
	}
	for _, text := range []string{output, wrong} {
		if text != "" && text != "(empty)" && text != "(none)" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "\n")
}
