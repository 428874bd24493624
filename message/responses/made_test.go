package responses_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/responses"
)

// A message that a program made, or another wire, becomes items that the provider accepts: it
// answers with status 400 otherwise.
func TestMessagesFromElsewhereBecomeItems(t *testing.T) {
	result := func(id, text string) message.Part {
		return message.Part{Kind: message.KindToolResult, CallID: id, Text: text}
	}
	said := func(text string) message.Part { return message.Part{Kind: message.KindText, Text: text} }
	picture := message.Part{Kind: message.KindImage, CallID: "a", Media: &message.Media{URL: "data:image/png;base64,AA", Detail: "low"}}
	for name, c := range map[string]struct {
		m    message.Message
		want string
	}{
		"two texts of the model": {message.Message{Role: message.RoleAssistant, Parts: []message.Part{said("a"), said("b")}},
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]}`},
		"two texts of the user": {message.Message{Role: message.RoleUser, Parts: []message.Part{said("a"), said("b")}},
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`},
		"reasoning before a call": {message.Message{Role: message.RoleAssistant, Parts: []message.Part{said("first"), {Kind: message.KindReasoning, Text: "hm"}, {Kind: message.KindToolCall, CallID: "a", Name: "f", Args: []byte(`{}`)}}},
			`{"type":"message","role":"assistant","content":"first"},{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`},
		"a message without parts":       {message.Message{Role: message.RoleUser}, `{"type":"message","role":"user","content":""}`},
		"a text of a tool":              {message.Message{Role: message.RoleTool, Parts: []message.Part{said("a")}}, `{"type":"message","role":"user","content":"a"}`},
		"a text without a role":         {message.Message{Parts: []message.Part{said("a")}}, `{"type":"message","role":"user","content":"a"}`},
		"a part of a kind without form": {message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindAudio}}}, `{"type":"message","role":"user","content":[{"type":"input_text","text":"[audio]"}]}`},
		"two results": {message.Message{Role: message.RoleTool, Parts: []message.Part{result("a", "1"), result("b", "2")}},
			`{"type":"function_call_output","call_id":"a","output":"1"},{"type":"function_call_output","call_id":"b","output":"2"}`},
		"a result with a picture": {message.Message{Role: message.RoleTool, Parts: []message.Part{result("a", "1"), picture}},
			`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"1"},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"low"}]}`},
		"a file at an address": {message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindFile, Media: &message.Media{URL: "https://x/y.pdf", Name: "y.pdf"}}}},
			`{"type":"message","role":"user","content":[{"type":"input_file","file_url":"https://x/y.pdf","filename":"y.pdf"}]}`},
		"a file with its data": {message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindFile, Media: &message.Media{URL: "data:application/pdf;base64,AA"}}}},
			`{"type":"message","role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,AA"}]}`},
		"a file with an id": {message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindFile, Args: []byte(`{"type":"input_file","file_id":"f"}`)}}},
			`{"type":"message","role":"user","content":[{"type":"input_file","file_id":"f"}]}`},
	} {
		r := parse(t, `{"input":[{"role":"user","content":"q"}]}`)
		out, err := r.Write([]message.Message{r.Messages()[0], c.m}, []int{0, -1})
		if want := `{"input":[{"role":"user","content":"q"},` + c.want + `]}`; err != nil || string(out) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, out, want)
		}
	}
}

// The error about a nested value names its place, because a body has hundreds of items.
func TestErrorsNameNestedFields(t *testing.T) {
	for item, want := range map[string]string{
		`{"role":"user","content":[7]}`:                                                           `"input[0].content[0]"`,
		`{"role":"user","content":[{"type":"input_text","text":7}]}`:                              `"input[0].content[0].text"`,
		`{"role":"user","content":[{"type":"input_text"}]}`:                                       `"input[0].content[0].text"`,
		`{"role":"user","content":{"type":"input_text"}}`:                                         `"input[0].content"`,
		`{"role":7,"content":"x"}`:                                                                `"input[0].role"`,
		`{"type":7,"role":"user","content":"x"}`:                                                  `"input[0].type"`,
		`{"type":"function_call","call_id":"a","name":7,"arguments":"{}"}`:                        `"input[0].name"`,
		`{"type":"function_call_output","call_id":7,"output":"x"}`:                                `"input[0].call_id"`,
		`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":7}]}`: `"input[0].output[0].text"`,
		`{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":7}]}`:        `"input[0].content[0].text"`,
		`{"type":"shell_call_output","call_id":"a","output":[7]}`:                                 `"input[0].output[0]"`,
	} {
		if _, err := responses.Wire.ParseRequest([]byte(`{"input":[`+item+`]}`), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", item, err, want)
		}
	}
}

// A violation says which message breaks the rule and what the provider answers, for the log.
func TestViolationsDescribeTheMessage(t *testing.T) {
	r := parse(t, `{"input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}`)
	found := r.Check(r.Messages(), []int{0, 1})
	if len(found) != 2 || found[0].Index != 1 || !strings.Contains(found[0].Detail, "message 2: ") || !strings.Contains(found[0].Detail, "call a.") {
		t.Errorf("a call without output: %+v", found)
	}
	if found = r.Check(r.Messages(), []int{0}); len(found) != 1 || found[0].Check != responses.CheckSources || found[0].Detail == "" {
		t.Errorf("a view with the wrong number of sources: %+v", found)
	}
}

// A request may name several states on the server; the first one counts for all that is done.
func TestTheFirstStateOnTheServerCounts(t *testing.T) {
	for body, want := range map[string]string{
		`{"input":[{"type":"compaction_trigger"}],"previous_response_id":"r"}`:          "previous_response_id",
		`{"input":[],"conversation":"c","previous_response_id":"r"}`:                    "previous_response_id",
		`{"input":[],"context_management":[{"type":"compaction"}],"conversation":"c"}`:  "conversation",
		`{"input":[{"role":"user","content":"q"},{"type":"compaction_trigger"}]}`:       "compaction_trigger",
		`{"input":[{"type":"message","role":"user","content":"compaction_trigger"}]}`:   "",
		`{"input":[{"role":"user","content":"q"}],"context_management":[{"type":"x"}]}`: "context_management",
	} {
		about := parse(t, body).About()
		if about.ServerSide != want || about.Delta != (want == "previous_response_id" || want == "conversation") {
			t.Errorf("%s: %q, delta %v, want %q", body, about.ServerSide, about.Delta, want)
		}
	}
	for list, want := range map[string]int{
		`[{"type":"compaction","compact_threshold":900},{"type":"compaction","compact_threshold":700}]`: 700,
		`[{"type":"compaction","compact_threshold":900},{"type":"other","compact_threshold":900}]`:      1, // may do so at any size
		`[{"type":"compaction"}]`: 1,
	} {
		if got := parse(t, `{"input":[],"context_management":`+list+`}`).About().ServerTrigger; got != want {
			t.Errorf("%s: the server compacts at %d, want %d", list, got, want)
		}
	}
}
