package transport

import (
	"testing"

	"github.com/agentcompact/compact/message/openai"
)

// The way in which an answer ended is read on every wire, in documents and streams.
func TestEndsOfAnswersAreReadOnEveryWire(t *testing.T) {
	for raw, want := range map[string]end{
		`{"choices":[{"finish_reason":"stop"}]}`: whole, `{"choices":[{"finish_reason":"length"}]}`: cutOff, `{"choices":[{"finish_reason":"content_filter"}]}`: withheld,
		`{"candidates":[{"finishReason":"STOP"}]}`: whole, `{"candidates":[{"finishReason":"MAX_TOKENS"}]}`: cutOff, `{"candidates":[{"finishReason":"SAFETY"}]}`: withheld,
		`{"promptFeedback":{"blockReason":"SAFETY"}}`: withheld, `{"stop_reason":"end_turn"}`: whole, `{"stop_reason":"max_tokens"}`: cutOff, `{"stop_reason":"refusal"}`: withheld,
		`{"incomplete_details":{"reason":"max_output_tokens"}}`: cutOff, `{"incomplete_details":{"reason":"content_filter"}}`: withheld, `{"incomplete_details":null}`: whole,
	} {
		if got := ending(split([]byte(raw), false)); got != want {
			t.Errorf("%s: %d, want %d", raw, got, want)
		}
	}
	for raw, want := range map[string]end{
		"data: {\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n":                                             cutOff,
		"data: {\"response\":{\"incomplete_details\":{\"reason\":\"max_output_tokens\"}}}\n\n":               cutOff,
		"data: {\"choices\":[{\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[]}\n\ndata: [DONE]\n\n": cutOff,
		"data: {\"choices\":[{\"finish_reason\":null}]}\n\n":                                                 whole,
	} {
		if got := ending(split([]byte(raw), true)); got != want {
			t.Errorf("%s: %d, want %d", raw, got, want)
		}
	}
}

// An answer that calls a tool, even the recall tool, does not count as a summary.
func TestAnswersNameTheToolsThatTheyCall(t *testing.T) {
	call := func(name string) string {
		return `{"id":"c","type":"function","function":{"name":"` + name + `","arguments":"{}"}}`
	}
	for calls, want := range map[string]string{"": "", call("bash"): "bash", call(recallTool): "recall", call(""): "a tool without a name"} {
		raw := `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"The summary.","tool_calls":[` + calls + `]}}],"usage":{"prompt_tokens":7}}`
		a, ok := readAsked(openai.Wire, []byte(raw), false)
		if !ok || a.Text != "The summary." || (a.Calls == "") != (want == "") || a.Usage.PromptTokens != 7 || a.CutOff || a.Withheld {
			t.Errorf("%s: %+v, %v, want true", calls, a, ok)
		}
	}
}
