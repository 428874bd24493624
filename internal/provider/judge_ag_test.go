package provider

import (
	"fmt"
	"strings"
	"testing"
)

const anthropicBody = `{"model":"claude-sonnet-4-5","max_tokens":9,"thinking":{"type":"enabled","budget_tokens":1},
"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],
"tools":[{"name":"f","input_schema":{},"cache_control":{"type":"ephemeral"}}],
"messages":[
{"role":"user","content":"Q"},
{"role":"assistant","content":[{"type":"thinking","thinking":"H","signature":"s0"},{"type":"text","text":"I look."},{"type":"tool_use","id":"z","name":"f","input":{}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"z"}]},
{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"s1"},{"type":"redacted_thinking","data":"s2"},{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"g","input":{"x":1}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"B"}],"is_error":true},{"type":"text","text":"And?","cache_control":{"type":"ephemeral"}}]},
{"role":"user","content":[{"type":"text","text":"U","cache_control":{"type":"ephemeral"}}]}]}`

func TestAnthropicRefusesRequestsThatBreakARule(t *testing.T) {
	missing := func(ids string) string {
		return "`tool_use` ids were found without `tool_result` blocks immediately after: " + ids + ". Each `tool_use` block must have a corresponding `tool_result` block in the next message."
	}
	resultA := `{"type":"tool_result","tool_use_id":"a","content":"A"},`
	resultB := `{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"B"}],"is_error":true},`
	changed := "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."
	held(t, issuing(Anthropic, anthropicBody), anthropicBody, []plant{
		{`"model":"claude-sonnet-4-5",`, ``, "model", "model: Field required"},
		{`"max_tokens":9,`, ``, "max_tokens", "max_tokens: Field required"},
		{`"messages"`, `"message"`, "missing_field", "messages: Field required"},
		{anthropicBody[strings.LastIndex(anthropicBody, "[\n"):], `[]}`, "no_messages", "at least one message is required"},
		{`"text":"S"`, `"text":" "`, "empty_text", "system: text content blocks must be non-empty"},
		{`[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}]`, `7`, "wrong_type", "system: Input should be a valid list"},
		{`{"role":"user","content":"Q"}`, `{"role":"human","content":"Q"}`, "role", "messages.0.role: Input should be 'user'"},
		{`{"role":"user","content":"Q"}`, `{"role":"assistant","content":"Q"}`, "first_role", `first message must use the "user" role`},
		{`{"role":"user","content":"Q"}`, `{"role":"system","content":"Q"}`, "first_role", `first message must use the "user" role`},
		{`"content":"Q"`, `"content":""`, "no_content", "messages.0: all messages must have non-empty content except for the optional final assistant message"},
		{`"content":"Q"`, `"content":[]`, "no_content", "messages.0: all messages must have non-empty content"},
		{`"content":"Q"`, `"content":null`, "wrong_type", "messages.0.content: Input should be a valid"},
		{`"content":"Q"`, `"content":"Q","meta":{}`, "unknown_field", "messages.0.meta: Extra inputs are not permitted"},
		{`"text":"U","cache_control":{"type":"ephemeral"}`, `"text":""`, "empty_text", "text content blocks must be non-empty"},
		{`"text":"U"`, `"text":""`, "empty_text", "cache_control cannot be set for empty text blocks"},
		{`"text":"U"`, `"text":"\n "`, "empty_text", "text content blocks must contain non-whitespace text"},
		{`"text":"B"`, `"text":""`, "empty_text", "text content blocks must be non-empty"},
		{`"content":"A"`, `"content":{"output":"A"}`, "wrong_type", "messages.4.content.0.tool_result.content"},
		{`{"type":"text","text":"B"}`, `{"type":"tool_use","id":"q","name":"f","input":{}}`, "block_type", "Input tag 'tool_use'"},
		{`{"type":"text","text":"U","cache_control":{"type":"ephemeral"}}`, `{"type":"thinking","thinking":"T","signature":"s1"}`, "block_type", "Input tag 'thinking'"},
		{`"input":{"x":1}`, `"input":"{}"`, "wrong_type", "messages.3.content.3.tool_use.input: Input should be a valid dictionary"},
		{`"id":"b","name":"g"`, `"id":"b:1","name":"g"`, "call_id", "String should match pattern"},
		{`"id":"b","name":"g"`, `"id":"b","name":"g g"`, "function_name", "String should match pattern"},
		{`"id":"b","name":"g"`, `"id":"z","name":"g"`, "call_twice", "`tool_use` ids must be unique"},
		{resultA, ``, "call_without_result", "messages.3: " + missing("a")},
		{resultA + resultB, ``, "call_without_result", missing("a, b")},
		{resultA, resultA + resultA, "result_twice", "each tool_use must have a single result. Found multiple `tool_result` blocks with id: a"},
		{`"tool_use_id":"b"`, `"tool_use_id":"c"`, "tool_without_call", "messages.4.content.1: unexpected `tool_use_id` found in `tool_result` blocks: c."},
		{resultA, `{"type":"text","text":"first"},` + resultA, "result_not_first", missing("a")},
		{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"z"}]},`, `{"role":"system","content":"!"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"z"}]},`, "call_without_result", missing("z")},
		{`"thinking":"T"`, `"thinking":"t"`, "sealed", "messages.3.content.0: Invalid `signature` in `thinking` block"},
		{`"signature":"s1"`, `"signature":"s0"`, "sealed", "Invalid `signature`"},
		{`,"signature":"s1"`, ``, "missing_field", "messages.3.content.0.thinking.signature: Field required"},
		{`{"type":"redacted_thinking","data":"s2"},`, ``, "thinking_changed", changed},
		{`{"type":"thinking","thinking":"H","signature":"s0"},`, ``, "thinking_changed", changed},
		{`{"type":"thinking","thinking":"T","signature":"s1"},{"type":"redacted_thinking","data":"s2"}`, `{"type":"redacted_thinking","data":"s2"},{"type":"thinking","thinking":"T","signature":"s1"}`, "thinking_changed", changed},
		{`{"type":"thinking","thinking":"T","signature":"s1"},{"type":"redacted_thinking","data":"s2"},`, ``, "thinking_first", "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled"},
		{`{"type":"text","text":"I look."},{"type":"tool_use","id":"z","name":"f","input":{}}`, `{"type":"text","text":"made"}`, "thinking_alone", changed},
		{`,{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"g","input":{"x":1}}`, ``, "thinking_last", "The final block in an assistant message cannot be `thinking`."},
		{`"content":"A"`, `"content":"A","cache_control":{"type":"ephemeral"}`, "cache_control", "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		{`{"model"`, `{"cache_control":{"type":"ephemeral"},"model"`, "cache_control", "Found 5."},
		{`"text":"U","cache_control":{"type":"ephemeral"}`, `"text":"U","cache_control":{"type":"ephemeral","ttl":"1h"}`, "cache_order", "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."},
		{`"text":"U","cache_control":{"type":"ephemeral"}`, `"text":"U","cache_control":{"type":"ephemeral","ttl":"1d"}`, "cache_ttl", "ttl: Input should be '5m' or '1h'"},
		{`"text":"U","cache_control":{"type":"ephemeral"}`, `"text":"U","cache_control":{"type":"persistent"}`, "cache_type", "cache_control.type"},
		{`{"type":"thinking","thinking":"T","signature":"s1"}`, `{"type":"thinking","thinking":"T","signature":"s1","cache_control":{}}`, "unknown_field", "messages.3.content.0.thinking.cache_control: Extra inputs are not permitted"},
		{`"text":"U","cache_control":{"type":"ephemeral"}}]}`, `"text":"U"}]},{"role":"assistant","content":"I"}`, "prefill", "does not support assistant message prefill. The conversation must end with a user message."},
	})
}

func TestAnthropicDialectsRefuseEmptyResults(t *testing.T) {
	legal := strings.Replace(anthropicBody, `"tool_use_id":"z"`, `"tool_use_id":"z","content":"Z"`, 1)
	j := issuing(Anthropic, legal)
	j.Dialects = true
	held(t, j, legal, []plant{
		{`,"content":"Z"`, ``, "empty_result", "must not be empty"},
		{`"content":"Z"`, `"content":""`, "empty_result", "must not be empty"},
		{`"content":"Z"`, `"content":[]`, "empty_result", "must not be empty"},
	})
}

func TestAnthropicAcceptsUnusualRequests(t *testing.T) {
	for name, body := range map[string]string{
		"neighbors of one role":                `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"assistant","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]}`,
		"a compaction first":                   `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"compaction","content":"all"}]},{"role":"user","content":"a"}]}`,
		"prefill of an old model":              `{"model":"claude-3-5-haiku-latest","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"("}]}`,
		"a late system message":                `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"system","content":"b"}]}`,
		"a system message after a server tool": `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]},{"role":"system","content":"b"}]}`,
		"an hour before minutes":               `{"model":"m","max_tokens":1,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"5m"}}]}]}`,
		"tools of the server":                  `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]},{"type":"text","text":"x"}]},{"role":"user","content":"e"}]}`,
	} {
		if found := NewJudge(Anthropic).Judge([]byte(body)); found != nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}

func TestAnthropicRequiresSystemBetweenUserAndAssistant(t *testing.T) {
	legal := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"system","content":"S1"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"system","content":[{"type":"text","text":"S2"}]}]}`
	held(t, NewJudge(Anthropic), legal, []plant{
		{`{"role":"assistant","content":"b"},`, ``, "system_place", "messages.1: a `system` message must be the last message or be followed by an assistant message"},
		{`{"role":"user","content":"c"},`, ``, "system_place", "messages.3: a `system` message must immediately follow a user message"},
		{`{"role":"system","content":"S1"}`, `{"role":"system","content":"S1"},{"role":"system","content":"S3"}`, "system_place", "messages.2: consecutive `system` messages are not allowed"},
		{`{"role":"user","content":"a"},`, ``, "first_role", `first message must use the "user" role`},
		{`{"type":"text","text":"S2"}`, `{"type":"image","source":{}}`, "block_type", "Input tag 'image'"},
	})
}

func TestAnthropicKeepsServerToolsTogether(t *testing.T) {
	legal := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]},{"role":"user","content":"e"}]}`
	held(t, NewJudge(Anthropic), legal, []plant{
		{`,{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`, ``, "call_without_result", "`web_search` tool use with id `s` was found without a corresponding `web_search_tool_result` block"},
	})
}

func TestAnthropicRequiresUnchangedSearchPages(t *testing.T) {
	legal := `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"u","title":"t","encrypted_content":"sealed"}]}]},{"role":"user","content":"e"}]}`
	j := NewJudge(Anthropic)
	j.Issue([]byte(legal))
	held(t, j, legal, []plant{
		{`"encrypted_content":"sealed"`, `"encrypted_content":"seal"`, "sealed", "messages.1.content.1.web_search_tool_result.content.0: Invalid `encrypted_content`"},
	})
}

const geminiBody = `{"systemInstruction":{"parts":[{"text":"S"}]},"contents":[
{"role":"user","parts":[{"text":"Q"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]},
{"role":"model","parts":[{"functionCall":{"name":"z","args":{}},"thoughtSignature":"c2ln"}]},
{"role":"user","parts":[{"functionResponse":{"name":"z","response":{"output":"Z"}}}]},
{"role":"model","parts":[{"text":"Now.","thoughtSignature":"dHh0"}]},
{"role":"user","parts":[{"text":"V"}]},
{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"x":1}},"thoughtSignature":"c2lnMQ=="},{"functionCall":{"id":"b","name":"g","args":{}}}]},
{"role":"user","parts":[{"function_response":{"id":"a","name":"f","response":{"output":"A"}}},{"functionResponse":{"id":"b","name":"g","response":{"result":"B"}}}]},
{"role":"model","parts":[{"functionCall":{"id":"c","name":"h","args":{}},"thoughtSignature":"c2lnMg=="}]},
{"role":"user","parts":[{"functionResponse":{"id":"c","name":"h","response":{"output":"C"}}}]}]}`

func TestGeminiRefusesRequestsThatBreakARule(t *testing.T) {
	lost := "Function call is missing a thought_signature in functionCall parts."
	responseB := `,{"functionResponse":{"id":"b","name":"g","response":{"result":"B"}}}`
	held(t, issuing(Gemini, geminiBody), geminiBody, []plant{
		{`"contents"`, `"content"`, "no_messages", "contents is not specified"},
		{`{"parts":[{"text":"S"}]}`, `"S"`, "wrong_type", "Invalid value at 'system_instruction'"},
		{`{"text":"S"}`, `{"inlineData":{}}`, "part_type", "only text parts"},
		{`{"role":"user","parts":[{"text":"V"}]}`, `{"role":"system","parts":[{"text":"V"}]}`, "role", "Please use a valid role: user, model."},
		{`{"role":"user","parts":[{"text":"Q"}`, `{"role":"model","parts":[{"text":"Q"}`, "first_role", "alternate between user and model"},
		{`{"text":"V"}`, ``, "no_content", "contents[4].parts: contents.parts must not be empty."},
		{`{"text":"V"}`, `{}`, "no_data", "required oneof field 'data' must have one initialized field"},
		{`{"text":"V"}`, `{"text":""}`, "empty_text", "empty text parameter"},
		{`{"text":"V"}`, `{"text":"V","functionCall":{"name":"f"}}`, "two_data", "oneof field 'data' is already set"},
		{`{"text":"V"}`, `{"text":"V","meta":1}`, "unknown_field", `Unknown name "meta" at 'contents[4].parts[0]'`},
		{`"name":"h","args":{}`, `"name":"h","args":"{}"`, "wrong_type", "Invalid value at 'contents[7].parts[0].function_call.args' (type.googleapis.com/google.protobuf.Struct)"},
		{`"name":"h","response"`, `"response"`, "missing_field", "contents[8].parts[0].function_response.name: Name cannot be empty."},
		{`"response":{"output":"C"}`, `"response":"C"`, "wrong_type", "Invalid value at 'contents[8].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), \"C\""},
		{`{"text":"Now.","thoughtSignature":"dHh0"}`, `{"functionCall":{"name":"n"},"thoughtSignature":"skip_thought_signature_validator"}`, "call_without_result", geminiParity},
		{`{"role":"user","parts":[{"text":"V"}]},` + "\n", ``, "call_order", geminiCallOrder},
		{responseB, ``, "parity", geminiParity},
		{responseB, responseB + responseB, "parity", geminiParity},
		{`"id":"b","name":"g","response"`, `"id":"d","name":"g","response"`, "tool_without_call", geminiParity},
		{`{"role":"user","parts":[{"text":"V"}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"z","response":{}}}]}`, "tool_without_call", geminiResponseOrder},
		{`{"functionResponse":{"name":"z","response":{"output":"Z"}}}`, `{"text":"Z"}`, "call_without_result", geminiParity},
		{`,"thoughtSignature":"c2lnMQ=="`, ``, "signature_missing", lost},
		{`,"thoughtSignature":"c2lnMg=="`, ``, "signature_missing", lost},
		{`,"thoughtSignature":"c2ln"`, ``, "signature_lost", lost},
		{`,"thoughtSignature":"dHh0"`, ``, "signature_lost", lost},
		{`"c2lnMg=="`, `"c2ln"`, "sealed", "Corrupted thought signature."},
		{`"c2lnMg=="`, `"%%"`, "sealed", "Base64 decoding failed"},
		{`"args":{"x":1}`, `"args":{"x":2}`, "sealed", "Corrupted thought signature."},
		{`,` + "\n" + geminiBody[strings.LastIndex(geminiBody, `{"role":"user"`):], `]}`, "last_role", "end with a user role or a function response"},
	})
}

func TestGeminiRequiresSignaturesOnlyAfterTheLastUserMessage(t *testing.T) {
	unsigned := strings.NewReplacer(`,"thoughtSignature":"c2ln"`, ``, `,"thoughtSignature":"dHh0"`, ``).Replace(geminiBody)
	if found := issuing(Gemini, unsigned).Judge([]byte(unsigned)); found != nil {
		t.Error(found)
	}
	skipped := strings.Replace(unsigned, "c2lnMg==", skipSignature, 1)
	if found := issuing(Gemini, unsigned).Judge([]byte(skipped)); found != nil {
		t.Errorf("a made-up call: %v", found)
	}
}

func TestGeminiDialectsRefuseEmptyResults(t *testing.T) {
	j := issuing(Gemini, geminiBody)
	j.Dialects = true
	held(t, j, geminiBody, []plant{
		{`{"output":"Z"}`, `{}`, "empty_result", "must not be empty"},
		{`{"result":"B"}`, `{"result":""}`, "empty_result", "must not be empty"},
	})
}

// The judge must not accept signatures that were never issued.
func TestJudgeAcceptsOnlyIssuedSeals(t *testing.T) {
	for w, body := range map[Wire]string{Responses: responsesBody, Anthropic: anthropicBody, Gemini: geminiBody} {
		found := NewJudge(w).Judge([]byte(body))
		if len(found) == 0 || found[0].Rule != "sealed" {
			t.Errorf("%s: %v", w, found)
		}
	}
}

// Python clients write bytes in the URL alphabet, even if they received the bytes in
// the other alphabet.
func TestGeminiAcceptsBothBase64Alphabets(t *testing.T) {
	const body = `{"contents":[{"role":"user","parts":[{"text":"U"},{"inlineData":{"mimeType":"image/png","data":"+/+/+w=="}}]},` +
		`{"role":"model","parts":[{"text":"M","thoughtSignature":"+/8="}]},{"role":"user","parts":[{"text":"V"}]}]}`
	j := NewJudge(Gemini)
	j.Issue([]byte(body))
	for _, same := range []string{body, strings.NewReplacer("+/", "-_", "+w", "-w").Replace(body), strings.ReplaceAll(body, "=", "")} {
		if found := j.Judge([]byte(same)); len(found) > 0 {
			t.Errorf("%s: %v", same, found)
		}
	}
	other := strings.Replace(body, "+/8=", "-_4=", 1)
	if found := j.Judge([]byte(other)); len(found) != 1 || found[0].Rule != "sealed" {
		t.Errorf("another signature: %v", found)
	}
}

func FuzzJudge(f *testing.F) {
	for _, s := range []string{chatBody, responsesBody, anthropicBody, geminiBody, `{"messages":[null,7,{"role":7,"content":[7,null]}]}`, `{"contents":[{"parts":{}}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, w := range Wires() {
			j := NewJudge(w)
			j.Dialects = true
			found := j.Judge(body)
			j.Issue(body)
			after := j.Judge(body)
			for _, r := range New(found, after) {
				switch r.Rule {
				case "reasoning_lost", "reasoning_alone", "signature_lost", "thinking_changed", "thinking_alone":
				default:
					t.Errorf("%s: the request is refused only after the output was issued: %s", w, r.Rule)
				}
			}
		}
	})
}

// A program of the model waits for the client's tools, in its container.
func TestAnthropicJudgesWaitingPrograms(t *testing.T) {
	const (
		begin = `{"model":"m","max_tokens":1%s,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"code_execution","input":{}},{"type":"tool_use","id":"c","name":"f","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}}]},`
		done  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"x"}]}`
		ran   = `,{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s","content":{}}]},{"role":"user","content":"b"}]}`
	)
	held := fmt.Sprintf(begin, `,"container":"k"`)
	for body, rule := range map[string]string{
		held + done + "]}":                                        "",
		held + done + ran:                                         "",
		fmt.Sprintf(begin, "") + done + ran:                       "",
		fmt.Sprintf(begin, "") + done + "]}":                      "container",
		held + done + `,{"role":"user","content":"never mind"}]}`: "call_without_result",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}` + ran: "result_without_call",
		`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{},"caller":{"tool_id":"s"}}]},` + done + "]}": "caller_unknown",
	} {
		found := NewJudge(Anthropic).Judge([]byte(body))
		if rule == "" && len(found) > 0 || rule != "" && (len(found) == 0 || found[0].Rule != rule) {
			t.Errorf("%s: %v, want %q", body, found, rule)
		}
	}
}
