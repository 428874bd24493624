package formats

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// lists are conversations with a tool in the form of each wire, one message
// per line.
var lists = map[string]string{
	"openai": `{"role":"system","content":"Be brief."}
{"role":"user","content":"what is in a?"}
{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}
{"role":"tool","tool_call_id":"c1","content":"it says b"}
{"role":"assistant","content":"b"}`,
	"anthropic": `{"role":"user","content":"what is in a?"}
{"role":"assistant","content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"c1","name":"read","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"it says b"}]}
{"role":"assistant","content":"b"}`,
	"responses": `{"type":"message","role":"user","content":[{"type":"input_text","text":"what is in a?"}]}
{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"}
{"type":"function_call_output","call_id":"c1","output":"it says b"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}`,
	"gemini": `{"role":"user","parts":[{"text":"what is in a?"}]}
{"role":"model","parts":[{"functionCall":{"name":"read","args":{}}}]}
{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"it says b"}}}]}
{"role":"model","parts":[{"text":"b"}]}`,
}

// bodyKeys holds the name of the list in a body.
var bodyKeys = map[string]string{"openai": "messages", "anthropic": "messages", "responses": "input", "gemini": "contents"}

// A named format that is not the file's format is an error: otherwise messages
// would be read without their texts or calls.
func TestUnknownFormatNameIsAnError(t *testing.T) {
	for is, list := range lists {
		files := map[string]string{
			"lines": list, "an array": "[" + strings.ReplaceAll(list, "\n", ",") + "]",
			"a body": `{"model":"m","` + bodyKeys[is] + `":[` + strings.ReplaceAll(list, "\n", ",") + `]}`,
		}
		for kind, data := range files {
			for named := range lists {
				f, err := Read(named, []byte(data))
				switch {
				case named == is && err != nil:
					t.Errorf("%s of %s: %v", kind, is, err)
				case named != is && err == nil:
					t.Errorf("%s of %s, named %s: no error, %d messages", kind, is, named, len(f.Messages()))
				case named != is && !strings.Contains(err.Error(), "it is "+is):
					t.Errorf("%s of %s, named %s: %v", kind, is, named, err)
				}
			}
		}
	}
}

// A list that two wires write alike has the format that the caller names.
func TestNamedFormatDecidesAmbiguousInput(t *testing.T) {
	const plain = `{"role":"user","content":"hello"}
{"role":"assistant","content":"what can I do?"}`
	for _, named := range []string{"openai", "anthropic", "responses"} {
		for _, data := range []string{plain, `{"model":"m","max_tokens":100,"` + bodyKeys[named] + `":[` + strings.ReplaceAll(plain, "\n", ",") + `]}`} {
			f, err := Read(named, []byte(data))
			if err != nil || len(f.Messages()) != 2 || f.Messages()[0].Parts[0].Kind != message.KindText {
				t.Errorf("%s: %v", named, err)
			}
		}
	}
}
