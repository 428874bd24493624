package provider

import (
	"fmt"
	"slices"
	"strings"
)

var responsesRules = rules{judge: judgeResponses, issue: issueResponses, parse: chatRules.parse}

// itemShapes maps types of input items to shapes. A message may have no type.
// The fields of serverItems and clientItems are not checked.
var itemShapes = map[string]shape{
	"message": {may("type", text), must("role", text), must("content", text|list), may("id", text), may("status", text|null), may("phase", text|null)},
	"reasoning": {must("type", text), must("summary", list), may("id", text), may("encrypted_content", text|null), may("content", list|null),
		may("status", text|null)},
	"function_call": {must("type", text), must("call_id", text), must("name", text), must("arguments", text), may("id", text), may("status", text|null),
		may("namespace", text|null)},
	"function_call_output": {must("type", text), must("call_id", text), must("output", text|list), may("id", text|null), may("status", text|null)},
	"custom_tool_call":     {must("type", text), must("call_id", text), must("name", text), must("input", text), may("id", text), may("status", text|null)},
	"custom_tool_call_output": {must("type", text), must("call_id", text), must("output", text|list), may("id", text|null),
		may("status", text|null)},
	"item_reference": {may("type", text|null), must("id", text)},
	"compaction":     {must("type", text), must("encrypted_content", text), may("id", text|null)},
	// Items of Codex: tools declared, and settings changed, within the
	// conversation.
	"additional_tools":     {must("type", text), must("role", text), must("tools", list), may("id", text|null)},
	"agent_message":        {must("type", text), must("author", text), must("recipient", text), must("content", list|text), may("id", text|null)},
	"configuration_update": {must("type", text), may("reasoning", dict|null), may("id", text|null)},
}

// serverItems lists items of the model for server-side tools. clientItems lists items
// that a client adds.
var (
	serverItems = []string{"web_search_call", "file_search_call", "computer_call", "image_generation_call", "code_interpreter_call",
		"local_shell_call", "shell_call", "apply_patch_call", "mcp_list_tools", "mcp_approval_request", "mcp_call", "tool_search_call"}
	clientItems = []string{"computer_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output",
		"mcp_approval_response", "compaction_trigger", "tool_search_output"}
)

// passthrough is a field that Codex may add to any item.
const passthrough = "internal_chat_message_metadata_passthrough"

// idPrefixes maps types of items to the prefixes of their ids.
var idPrefixes = map[string]string{"message": "msg", "reasoning": "rs", "function_call": "fc", "custom_tool_call": "ctc"}

var responsesParts = map[string]shape{
	"input_text":   {must("type", text), must("text", text)},
	"input_image":  {must("type", text), may("image_url", text|null), may("file_id", text|null), may("detail", text|null)},
	"input_file":   {must("type", text), may("file_id", text|null), may("file_data", text), may("filename", text), may("file_url", text)},
	"output_text":  {must("type", text), must("text", text), may("annotations", list), may("logprobs", list)},
	"refusal":      {must("type", text), must("refusal", text)},
	"summary_text": {must("type", text), must("text", text)},
}

func judgeResponses(j *Judge, r *report, body object) {
	if str(body, "model") == "" && body["prompt"] == nil {
		r.add("model", "", "model", "Missing required parameter: 'model'.")
	}
	if body["background"] == true && body["store"] == false {
		r.add("background", "", "background", "Background mode requires store to be true.")
	}
	if v, ok := body["instructions"]; ok && kindOf(v)&(text|null) == 0 {
		r.add("wrong_type", ".instructions", "instructions", openaiPhrases.wrong("", "instructions", text, v))
	}
	switch in := body["input"].(type) {
	case string:
	case []any:
		items := objects(in)
		if len(items) == 0 && !namesInput(body) {
			r.add("no_messages", "", "input", "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided.")
		}
		for i, it := range items {
			responsesItem(r, i, it, body["store"] == false)
		}
		responsesPairs(r, items)
		responsesReasoning(j, r, items)
		responsesTwice(r, items)
		if r.dialect = j.Dialects; r.dialect {
			responsesDialects(r, items)
		}
	default:
		if !namesInput(body) {
			r.add("missing_field", ".input", "", "Missing required parameter: 'input'.")
		}
	}
}

// namesInput reports whether a request names messages that the provider stores.
func namesInput(body object) bool {
	return str(body, "previous_response_id") != "" || body["prompt"] != nil || body["conversation"] != nil
}

// itemType returns the type of an item; messages may have none.
func itemType(it object) string {
	if t := str(it, "type"); t != "" {
		return t
	}
	if str(it, "role") != "" {
		return "message"
	}
	return ""
}

// itemOwner returns a key that distinguishes an item from others: the id of its
// call, else its own.
func itemOwner(it object) string {
	if id := str(it, "call_id"); id != "" {
		return id
	}
	return str(it, "id")
}

func responsesItem(r *report, i int, it object, stateless bool) {
	path := fmt.Sprintf("input[%d]", i)
	kind := itemType(it)
	if slices.Contains(serverItems, kind) || slices.Contains(clientItems, kind) {
		return
	}
	s, ok := itemShapes[kind]
	if !ok {
		r.add("item_type", kind, path, fmt.Sprintf("Invalid value: '%s'. Supported values are: 'message', 'reasoning', 'function_call', 'function_call_output', 'compaction', and others.", kind))
		return
	}
	r.fits(openaiPhrases, s, without(it, passthrough), itemOwner(it), path)
	if prefix := idPrefixes[kind]; prefix != "" && str(it, "id") != "" && !strings.HasPrefix(str(it, "id"), prefix) {
		r.add("item_id", str(it, "id"), path+".id", fmt.Sprintf("Invalid '%s.id': '%s'. Expected an ID that begins with '%s'.", path, str(it, "id"), prefix))
	}
	switch kind {
	case "message":
		responsesMessage(r, path, it)
	case "reasoning":
		for k, p := range objects(it["summary"]) {
			responsesPart(r, []string{"summary_text"}, str(it, "id"), fmt.Sprintf("%s.summary[%d]", path, k), p)
		}
		if stateless && str(it, "encrypted_content") == "" {
			r.add("reasoning_not_stored", str(it, "id"), path, fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", str(it, "id")))
		}
	case "function_call_output", "custom_tool_call_output":
		for k, p := range objects(it["output"]) {
			responsesPart(r, []string{"input_text", "input_image", "input_file"}, str(it, "call_id"), fmt.Sprintf("%s.output[%d]", path, k), p)
		}
	}
}

func responsesMessage(r *report, path string, it object) {
	role := str(it, "role")
	supported := []string{"input_text", "input_image", "input_file"}
	switch role {
	case "assistant":
		supported = []string{"output_text", "refusal"}
	case "user", "system", "developer":
	default:
		r.add("role", role, path+".role", fmt.Sprintf("Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", role))
		return
	}
	if l, ok := it["content"].([]any); ok && len(l) == 0 {
		r.add("no_content", role, path+".content", fmt.Sprintf("Invalid '%s.content': empty array. Expected an array with minimum length 1, but got an empty array instead.", path))
	}
	for k, p := range objects(it["content"]) {
		responsesPart(r, supported, role, fmt.Sprintf("%s.content[%d]", path, k), p)
	}
}

func responsesPart(r *report, supported []string, owner, path string, p object) {
	kind := str(p, "type")
	if !slices.Contains(supported, kind) {
		r.add("part_type", owner+"."+kind, path, fmt.Sprintf("Invalid value: '%s'. Supported values are: %s.", kind, quoted(supported)))
		return
	}
	r.fits(openaiPhrases, responsesParts[kind], p, owner, path)
}
