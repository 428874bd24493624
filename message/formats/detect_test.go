package formats_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message/formats"
)

func TestDetectUsesFieldsOfOneWireOnly(t *testing.T) {
	for body, want := range map[string]string{
		`{"contents":[]}`: "gemini",
		`{"input":"hi"}`:  "responses",
		`{"input":[]}`:    "responses",
		`{"messages":[],"system":"s","max_tokens":1}`:                                                                   "anthropic",
		`{"messages":[],"anthropic_version":"bedrock-2023-05-31","max_tokens":1}`:                                       "anthropic",
		`{"messages":[],"tools":[{"name":"f","input_schema":{}}],"max_tokens":1}`:                                       "anthropic",
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}],"max_tokens":1}`:            "anthropic",
		`{"messages":[{"role":"user","content":"hi"}],"max_tokens":1,"model":"claude-sonnet-4"}`:                        "anthropic",
		`{"messages":[{"role":"user","content":"hi"}],"max_tokens":1,"model":"gpt-4"}`:                                  "openai",
		`{"messages":[{"role":"user","content":"hi"}],"model":"claude-sonnet-4"}`:                                       "openai",
		`{"messages":[{"role":"system","content":"hi"}],"max_tokens":1,"model":"claude-sonnet-4"}`:                      "openai",
		`{"messages":[{"role":"assistant","tool_calls":[]}],"max_tokens":1}`:                                            "openai",
		`{"messages":[{"role":"assistant","content":"a","reasoning_content":"b"}],"max_tokens":1,"model":"claude-x"}`:   "openai",
		`{"messages":[],"tools":[{"type":"function","function":{}}],"max_tokens":1}`:                                    "openai",
		`{"messages":[],"stream_options":{},"max_tokens":1}`:                                                            "openai",
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}],"max_tokens":1,"model":"haiku"}`: "openai",
	} {
		f, err := formats.Detect([]byte(body))
		if err != nil || f.Name() != want {
			t.Errorf("%s: %v, %v, want %s", body, f, err, want)
		}
	}
}

func TestDetectDoesNotGuess(t *testing.T) {
	for _, body := range []string{
		`{}`, `{"prompt":"x"}`,
		`{"messages":[{"role":"user","content":"hi"}],"max_tokens":1}`,
		`{"messages":[],"system":"s","stream_options":{}}`,
		`{"messages":[],"input":[]}`, `{"messages":[],"contents":[]}`,
	} {
		if f, err := formats.Detect([]byte(body)); !errors.Is(err, formats.ErrUnknown) {
			t.Errorf("%s: got %v and error %v, want ErrUnknown", body, f, err)
		}
	}
	if _, err := formats.Detect([]byte(`{"messages":`)); err == nil || errors.Is(err, formats.ErrUnknown) {
		t.Errorf("no JSON: error %v, want one that is not ErrUnknown", err)
	}
}

func TestLookupFindsEveryWireByItsName(t *testing.T) {
	for _, f := range formats.All() {
		if got, ok := formats.Lookup(f.Name()); !ok || got.Name() != f.Name() {
			t.Errorf("%s: Lookup returns %v, %v, want true", f.Name(), got, ok)
		}
	}
	if _, ok := formats.Lookup("claude-code"); ok {
		t.Error("Lookup returns a wire for the log of an agent")
	}
	if got := strings.Join(formats.Names(), " "); got != "openai anthropic responses gemini claude-code codex gemini-cli copilot pi opencode swe-agent mini-swe-agent openhands langgraph tau2-bench tau-bench" {
		t.Errorf("got %v, want %v", got, "openai anthropic responses gemini claude-code codex gemini-cli copilot pi opencode swe-agent mini-swe-agent openhands langgraph tau2-bench tau-bench")
	}
}

func TestListsAreReadInTheOnlyPossibleWire(t *testing.T) {
	for data, want := range map[string]string{
		`{"role":"user","content":"hi"}`:                                                              "openai",
		"[{\"role\":\"user\",\"content\":\"hi\"}]":                                                    "openai",
		"{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"model\",\"parts\":[]}\n":                 "gemini",
		`[{"role":"user","parts":[{"text":"x"}]}]`:                                                    "gemini",
		`[{"role":"user","content":"hi"},{"type":"function_call","call_id":"a","name":"f"}]`:          "responses",
		`{"type":"message","role":"user","content":"hi"}`:                                             "responses",
		`[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}]`:       "anthropic",
		`[{"role":"assistant","content":[{"type":"text","text":"t"}]},{"role":"tool","content":"x"}]`: "openai",
		"{\"messages\":[{\"role\":\"system\",\"content\":\"hi\"}],\n\"model\":\"gpt-4\"}\n":           "openai",
		`{"contents":[{"role":"user","parts":[{"text":"x"}]}]}`:                                       "gemini",
	} {
		f, err := formats.Read("auto", []byte(data))
		if err != nil || f.Format() != want {
			t.Errorf("%s: %v, %v, want %s", data, f, err, want)
		}
	}
	for _, data := range []string{"", "\n", `{"a":1}`, `{"messages":[],"max_tokens":1}`, strings.Repeat(`{"type":"message","message":{"role":"user","content":"hi"}}`+"\n", 2)} {
		if f, err := formats.Read("auto", []byte(data)); err == nil && len(f.Messages()) > 0 {
			t.Errorf("%q is read as %s", data, f.Format())
		}
	}
	if _, err := formats.Read("yaml", []byte(`[]`)); !errors.Is(err, formats.ErrUnknown) {
		t.Error(err)
	}
}
