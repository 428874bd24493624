package formats_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/message/openai"
)

// The same conversation in the format of each wire.
var sayings = map[string]string{
	"openai": `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]},
		{"role":"assistant","content":"I call","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"one"},{"role":"tool","tool_call_id":"b","content":"two"},{"role":"assistant","content":"done"}]}`,
	"responses": `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I call"}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{\"n\":1}"},{"type":"function_call","call_id":"b","name":"g","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":"one"},{"type":"function_call_output","call_id":"b","output":"two"},{"role":"assistant","content":"done"}]}`,
	"anthropic": `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},
		{"role":"assistant","content":[{"type":"text","text":"I call"},{"type":"tool_use","id":"a","name":"f","input":{"n":1}},{"type":"tool_use","id":"b","name":"g","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"one"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"two"}]},{"role":"assistant","content":"done"}]}`,
	"gemini": `{"contents":[{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]},
		{"role":"model","parts":[{"text":"I call"},{"functionCall":{"id":"a","name":"f","args":{"n":1}}},{"functionCall":{"id":"b","name":"g","args":{}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"one"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"b","name":"g","response":{"output":"two"}}}]},{"role":"model","parts":[{"text":"done"}]}]}`,
}

// keptContent is the part of a message that no wire may lose.
type keptContent struct {
	Role  message.Role
	Parts []string
}

func gist(m message.Message) keptContent {
	s := keptContent{Role: m.Role}
	for _, p := range m.Parts {
		s.Parts = append(s.Parts, p.Kind.String()+" "+p.Text+" "+p.CallID+" "+string(p.Args))
	}
	return s
}

func TestMessagesOfOneWireAreWrittenInAnother(t *testing.T) {
	want := read(t, "openai", sayings["openai"]).Messages()
	for _, from := range formats.All() {
		f := read(t, "auto", sayings[from.Name()])
		if f.Format() != from.Name() || len(f.Messages()) != len(want) {
			t.Errorf("%s is read as %s: %v", from.Name(), f.Format(), outline(f.Messages()))
			continue
		}
		for _, to := range formats.All() {
			for i, m := range f.Messages() {
				raw := to.AppendMessage(nil, m)
				back, err := to.ParseMessage(raw)
				if err != nil {
					t.Errorf("%s to %s: %v: %s", from.Name(), to.Name(), err, raw)
					continue
				}
				if diff := cmp.Diff(gist(want[i]), gist(back)); diff != "" {
					t.Errorf("%s to %s, message %d: %s\n%s", from.Name(), to.Name(), i, diff, raw)
				}
			}
		}
	}
}

func TestEveryWireWritesInvalidUTF8(t *testing.T) {
	m, err := openai.ParseMessage([]byte(`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAAA"}},{"type":"file","file":{"file_id":"f"}},{"type":"hologram","x":1},{"type":"text","text":"t"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formats.All() {
		for _, m := range []message.Message{m, {Role: message.RoleUser}, {Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindReasoning, Text: "r"}, {Kind: message.KindText, Text: "t"}}}} {
			raw := f.AppendMessage(nil, m)
			back, err := f.ParseMessage(raw)
			if err != nil || back.Text() != m.Text() || back.Role != m.Role {
				t.Errorf("%s: %s is not read back as the same message, error %v", f.Name(), raw, err)
			}
		}
	}
}
