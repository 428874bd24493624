package formats

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
)

// Two wires have a list "messages". Each of these fields belongs to only one of
// the two.
var (
	openaiFields = []string{
		"max_completion_tokens", "frequency_penalty", "presence_penalty", "logprobs", "logit_bias", "n", "response_format", "stream_options",
		"parallel_tool_calls", "functions", "function_call", "prompt_cache_key", "reasoning_effort", "seed", "store", "modalities", "user",
	}
	anthropicFields = []string{"system", "anthropic_version", "anthropic_beta", "thinking", "stop_sequences", "top_k", "mcp_servers", "container"}
	openaiBlocks    = map[string]bool{"image_url": true, "input_audio": true, "file": true, "refusal": true}
	anthropicBlocks = map[string]bool{
		"tool_use": true, "tool_result": true, "thinking": true, "redacted_thinking": true, "image": true, "document": true,
		"server_tool_use": true, "search_result": true, "mcp_tool_use": true, "mcp_tool_result": true,
	}
)

// evidence counts the signs of each wire.
type evidence struct{ openai, anthropic int }

func detectMessages(body []byte, doc jsonscan.Document, has map[string]bool) (wire.Format, error) {
	var e evidence
	for _, key := range openaiFields {
		if has[key] {
			e.openai++
		}
	}
	for _, key := range anthropicFields {
		if has[key] {
			e.anthropic++
		}
	}
	model := ""
	for _, m := range doc.Members {
		switch m.Key {
		case "tools":
			e.tools(body, m.Value)
		case "model":
			model, _ = jsonscan.Unquote(m.Value.Of(body)) // not a string: no model
		}
	}
	for i, item := range doc.List {
		e.message(objectAt(body, item.Span), i)
	}
	switch {
	case e.openai > 0 && e.anthropic > 0:
		return nil, fmt.Errorf("%w: it has fields of openai and of anthropic", ErrUnknown)
	case e.anthropic > 0:
		return anthropic.Wire, nil
	case e.openai > 0 || !has["max_tokens"]:
		return openai.Wire, nil
	case strings.HasPrefix(model, "claude"):
		return anthropic.Wire, nil
	case model != "":
		return openai.Wire, nil
	}
	return nil, fmt.Errorf("%w: it is valid for both openai and anthropic", ErrUnknown)
}

func (e *evidence) tools(data []byte, at jsonscan.Span) {
	if data[at.Start] != '[' {
		return
	}
	_ = jsonscan.Array(data, at, func(_ int, elem jsonscan.Span) error {
		o := objectAt(data, elem)
		switch {
		case o.has("input_schema"):
			e.anthropic++
		case o.has("function") || o.text("type") == "custom":
			e.openai++
		}
		return nil
	})
}

// message counts the signs in one message. A system message in the middle of a list
// is not a sign: both wires allow it.
func (e *evidence) message(o object, index int) {
	data := o.data
	switch o.text("role") {
	case "tool", "developer", "function":
		e.openai++
	case "system":
		if index == 0 {
			e.openai++
		}
	}
	if o.has("tool_calls") || o.has("tool_call_id") || o.has("reasoning_content") {
		e.openai++
	}
	at := o.by["content"]
	if at.End == 0 || data[at.Start] != '[' {
		return
	}
	_ = jsonscan.Array(data, at, func(_ int, elem jsonscan.Span) error {
		kind := objectAt(data, elem).text("type")
		if anthropicBlocks[kind] {
			e.anthropic++
		}
		if openaiBlocks[kind] {
			e.openai++
		}
		return nil
	})
}
