package formats_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

func read(t *testing.T, name, data string) *formats.File {
	t.Helper()
	f, err := formats.Read(name, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var outline = wiretest.Outline

func mask(t *testing.T, m message.Message) message.Message {
	t.Helper()
	for i := range m.Parts {
		if m.Parts[i].Kind == message.KindToolResult {
			var err error
			if m, err = m.WithPartText(i, "[masked]"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

const claudeCode = `{"type":"summary","summary":"x","leafUuid":"l"}
{"type":"user", "message":{"role":"user","content":"q"},"uuid":"1","sessionId":"s","isSidechain":false}
{"type":"user","message":{"role":"user","content":"of a sub-agent"},"uuid":"1b","isSidechain":true}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"QQ"}],"usage":{}},"uuid":"2"}
{"type":"progress","data":{}}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},"uuid":"3"}

{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"long output"} , {"type":"text","text":"and then"}]},"uuid":"4","toolUseResult":{"stdout":"long output"}}
{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"done"}]},"uuid":"5"}
{"type":"user","message":{"role":"user","content":"next"},"uuid":"6"}`

func TestClaudeCodeLinesOfOneAnswerAreOneMessage(t *testing.T) {
	f := read(t, "auto", claudeCode)
	want := []string{"user: text", "assistant: reasoning tool_call(a)", "tool: tool_result(a)", "user: text", "assistant: text", "user: text"}
	if diff := cmp.Diff(want, outline(f.Messages())); f.Format() != "claude-code" || f.Wire().Name() != "anthropic" || diff != "" {
		t.Fatalf("%s %s %s, want %s, %s and none", f.Format(), f.Wire().Name(), diff, "claude-code", "anthropic")
	}
	m := f.Messages()
	view := []message.Message{m[0], m[1], mask(t, m[2]), m[3], m[4], m[5]}
	out, err := f.Write(view, seq(6))
	if want := strings.Replace(claudeCode, `"content":"long output"`, `"content":"[masked]"`, 1); err != nil || string(out) != want {
		t.Errorf("got %s and error %v, want only the result masked", out, err)
	}
	out, err = f.Write([]message.Message{message.Assistant(message.SummaryText(1, "sum")), m[4], m[5]}, []int{-1, 4, 5})
	lines := strings.Split(string(out), "\n")
	if err != nil || len(lines) != 6 || !strings.Contains(string(out), `<COMPACT-SUMMARY v1>\nsum\n`) {
		t.Fatalf("got %s and error %v, want 6 lines with the summary", out, err)
	}
	again := read(t, "auto", string(out))
	if diff := cmp.Diff([]string{"assistant: text", "assistant: text", "user: text"}, outline(again.Messages())); diff != "" {
		t.Error(diff)
	}
	rows := strings.Split(claudeCode, "\n")
	if diff := cmp.Diff([]string{rows[0], lines[1], rows[2], rows[4], rows[8], rows[9]}, lines); diff != "" {
		t.Error(diff)
	}
}

// A sub-agent writes its lines into the log while the lines of one answer are written.
func TestLinesOfASubAgentAreNotPartOfAnAnswer(t *testing.T) {
	f := read(t, "auto", `{"type":"user","message":{"role":"user","content":"q"},"uuid":"1"}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I ask"}]},"uuid":"2"}
{"type":"assistant","message":{"id":"m9","role":"assistant","content":[{"type":"tool_use","id":"z","name":"f","input":{}}]},"uuid":"2b","isSidechain":true}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},"uuid":"3"}
`)
	if diff := cmp.Diff([]string{"user: text", "assistant: text tool_call(a)"}, outline(f.Messages())); diff != "" {
		t.Error(diff)
	}
}

func TestALineOfTwoMessagesIsNotCutInTwo(t *testing.T) {
	f := read(t, "auto", claudeCode)
	m := f.Messages()
	for _, half := range []int{2, 3} {
		if _, err := f.Write([]message.Message{m[0], m[1], m[half], m[4], m[5]}, []int{0, 1, half, 4, 5}); err == nil || !strings.Contains(err.Error(), "line 8") {
			t.Errorf("a view with only message %d of the line: error %v, want one", half, err)
		}
	}
}

func TestSubAgentHasALogOfItsOwn(t *testing.T) {
	f := read(t, "auto", `{"type":"user","message":{"role":"user","content":"q"},"uuid":"1","isSidechain":true}
{"type":"assistant","message":{"id":"m","role":"assistant","content":"a"},"uuid":"2","isSidechain":true}
`)
	if diff := cmp.Diff([]string{"user: text", "assistant: text"}, outline(f.Messages())); diff != "" {
		t.Error(diff)
	}
}

const codex = `{"timestamp":"t","type":"session_meta","payload":{"id":"s","base_instructions":{"text":"be good"}}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}}
{"type":"turn_context","payload":{}}
{"type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"QQ"}}
{"type":"event_msg","payload":{"type":"token_count"}}
{"type":"response_item","payload":{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}}
{"type":"response_item","payload":{"type":"function_call_output","call_id":"a","output":"long output"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"next"}]}}
{"type":"event_msg","payl`

func TestCodexItemsStayInTheirLines(t *testing.T) {
	f := read(t, "auto", codex)
	m := f.Messages()
	want := []string{"system: text", "user: text", "assistant: reasoning tool_call(a)", "tool: tool_result(a)", "user: text"}
	if diff := cmp.Diff(want, outline(m)); f.Format() != "codex" || diff != "" || !m[0].Protected {
		t.Fatalf("%s %s, want %s and none", f.Format(), diff, "codex")
	}
	out, err := f.Write([]message.Message{m[0], m[1], m[2], mask(t, m[3]), m[4]}, seq(5))
	if want := strings.Replace(codex, `"output":"long output"`, `"output":"[masked]"`, 1); err != nil || string(out) != want {
		t.Errorf("got %s and error %v, want only the result masked", out, err)
	}
	out, err = f.Write([]message.Message{m[0], message.Assistant("sum"), m[4]}, []int{0, -1, 4})
	rows := strings.Split(codex, "\n")
	want = []string{rows[0], `{"type":"response_item","payload":{"type":"message","role":"assistant","content":"sum"}}`, rows[2], rows[4], rows[7], rows[8]}
	if diff := cmp.Diff(want, strings.Split(string(out), "\n")); err != nil || diff != "" {
		t.Errorf("%v %s, want no error and none", err, diff)
	}
}

// A new message takes the place of the first message that it replaces, after the lines
// before that one.
func TestANewMessageComesAfterTheLinesBeforeItsPlace(t *testing.T) {
	f := read(t, "auto", codex)
	m := f.Messages()
	out, err := f.Write([]message.Message{m[0], m[1], message.Assistant("sum"), m[4]}, []int{0, 1, -1, 4})
	rows := strings.Split(codex, "\n")
	want := []string{rows[0], rows[1], rows[2], `{"type":"response_item","payload":{"type":"message","role":"assistant","content":"sum"}}`, rows[4], rows[7], rows[8]}
	if diff := cmp.Diff(want, strings.Split(string(out), "\n")); err != nil || diff != "" {
		t.Errorf("%v %s, want no error and none", err, diff)
	}
}

func TestGeminiCLITurnsHoldCallsAndResults(t *testing.T) {
	const data = `{
  "sessionId": "s", "projectHash": "h",
  "messages": [
    {"id": "1", "type": "user", "content": "q"},
    {"id": "2", "type": "gemini", "content": "", "thoughts": [], "toolCalls": [{"id": "f-1", "name": "f", "args": {"n": 1}, "result": [{"functionResponse": {"id": "f-1", "name": "f", "response": {"output": "long output"}}}], "resultDisplay": "long"}]},
    {"id": "3", "type": "info", "content": "saved"},
    {"id": "4", "type": "gemini", "content": "done"}
  ]
}`
	f := read(t, "auto", data)
	m := f.Messages()
	want := []string{"user: text", "assistant: tool_call(f-1)", "tool: tool_result(f-1)", "assistant: text"}
	if diff := cmp.Diff(want, outline(m)); f.Format() != "gemini-cli" || diff != "" {
		t.Fatalf("%s %s, want %s and none", f.Format(), diff, "gemini-cli")
	}
	out, err := f.Write([]message.Message{m[0], m[1], mask(t, m[2]), m[3]}, seq(4))
	if want := strings.Replace(data, `"output": "long output"`, `"output": "[masked]"`, 1); err != nil || string(out) != want {
		t.Errorf("got %s and error %v, want only the result masked", out, err)
	}
	out, err = f.Write([]message.Message{message.Assistant("sum"), m[3]}, []int{-1, 3})
	if err != nil || !strings.Contains(string(out), `[
    {"type":"user","content":"sum"},
    {"id": "3", "type": "info", "content": "saved"},
    {"id": "4", "type": "gemini", "content": "done"}
  ]`) {
		t.Errorf("got %s and error %v", out, err)
	}
}

func TestListsKeepTheirLayout(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"lines": {
			"{\"role\":\"user\",\"content\":\"a\",\"meta\":{\"protected\":true}}\r\n\r\n{\"role\":\"assistant\",\"content\":\"b\"}\r\n{\"role\":\"user\",\"content\":\"c\"}",
			"{\"role\":\"user\",\"content\":\"a\",\"meta\":{\"protected\":true}}\r\n\r\n{\"role\":\"assistant\",\"content\":\"sum\"}\r\n{\"role\":\"user\",\"content\":\"c\"}",
		},
		"array": {
			"\xef\xbb\xbf[\n  {\"role\": \"user\", \"content\": \"a\", \"meta\": {\"protected\": true}},\n  {\"role\": \"assistant\", \"content\": \"b\"},\n  {\"role\": \"user\", \"content\": \"c\"}\n]\n",
			"\xef\xbb\xbf[\n  {\"role\": \"user\", \"content\": \"a\", \"meta\": {\"protected\": true}},\n  {\"role\":\"assistant\",\"content\":\"sum\"},\n  {\"role\": \"user\", \"content\": \"c\"}\n]\n",
		},
		"body": {
			"{\"model\":\"m\",\n\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"}]}\n",
			"{\"model\":\"m\",\n\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"sum\"},{\"role\":\"user\",\"content\":\"c\"}]}\n",
		},
	} {
		f := read(t, "auto", c.in)
		m := f.Messages()
		if m[0].Protected != strings.Contains(c.in, "protected") {
			t.Errorf("%s: protected %v", name, m[0].Protected)
		}
		if out, err := f.Write(slices.Clone(m), seq(3)); err != nil || string(out) != c.in {
			t.Errorf("%s: written as %q, error %v; want the input", name, out, err)
		}
		out, err := f.Write([]message.Message{m[0], message.Assistant("sum"), m[2]}, []int{0, -1, 2})
		if diff := cmp.Diff(c.want, string(out)); err != nil || diff != "" {
			t.Errorf("%s: %v %s, want no error and none", name, err, diff)
		}
	}
}

func TestLineOfTwoMessagesBecomesTwoLines(t *testing.T) {
	for _, in := range []string{`{"role":"user","content":"a"}`, `{"type":"message","role":"user","content":"a"}`} {
		f := read(t, "auto", in)
		out, err := f.Write([]message.Message{message.Assistant("sum"), f.Messages()[0]}, []int{-1, 0})
		if err != nil || strings.Count(string(out), "\n") != 1 || !strings.HasSuffix(string(out), "\n"+in) {
			t.Errorf("got %s and error %v, want two lines", out, err)
		}
	}
}

func TestBadInputNamesLineAndField(t *testing.T) {
	for name, c := range map[string]struct {
		format, data string
		line, index  int
		want         string
	}{
		"openai lines":    {"auto", "{\"role\":\"user\",\"content\":\"a\"}\n\n{\"role\":\"user\",\"content\":7}\n", 3, 1, `"content"`},
		"openai array":    {"auto", "[\n{\"role\":\"user\",\"content\":\"a\"},\n{\"rol\":2}\n]", 3, 1, `"role"`},
		"pretty-printed":  {"auto", "[\n{\n\"role\":\"user\",\n\"content\":\"a\"\n},\n{\"rol\":2}\n]", 6, 1, `"role"`},
		"a list cut off":  {"auto", "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":", 2, 1, "not valid JSON"},
		"two on a line":   {"auto", "{\"role\":\"user\",\"content\":\"a\"}{\"role\":\"user\",\"content\":\"a\"}\n", 1, 1, "two JSON values"},
		"an endless list": {"auto", "[\n{\"role\":\"user\"},\n", 3, -1, "not valid JSON"},
		"claude code":     {"auto", strings.Replace(claudeCode, `"content":"next"`, `"content":7`, 1), 10, 5, `"content"`},
		"codex":           {"auto", strings.Replace(codex, `"call_id":"a","name"`, `"call_id":7,"name"`, 1), 6, 2, `"call_id"`},
		"a broken line":   {"codex", strings.Replace(codex, `"turn_context",`, `"turn_context"`, 1), 3, 2, "not valid JSON"},
		"a body":          {"responses", "\n{\"input\":[7]}", 2, -1, `"input[0]"`},
		"utf-16":          {"auto", "\xff\xfe{\x00", 1, -1, "UTF-16"},
	} {
		_, err := formats.Read(c.format, []byte(c.data))
		var at *formats.InputError
		if c.index >= 0 && !strings.Contains(err.Error(), fmt.Sprintf("line %d (message %d): ", c.line, c.index+1)) {
			t.Errorf("%s: %v counts messages from 0", name, err)
		}
		if !errors.As(err, &at) || at.Line != c.line || at.Index != c.index || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want line %d, message %d, %s", name, err, c.line, c.index, c.want)
		}
	}
}

func TestEditsWithinOneLineKeepTheirPlaces(t *testing.T) {
	const file = `{"role":"assistant","content":"said","reasoning_content":"thought"}` + "\n"
	f := read(t, "openai", file)
	m, err := f.Messages()[0].WithPartTexts(map[int]string{0: "THOUGHT", 1: "SAID"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Write([]message.Message{m}, []int{0})
	if want := strings.NewReplacer("said", "SAID", "thought", "THOUGHT").Replace(file); err != nil || string(out) != want {
		t.Errorf("%s, %v, want %s", out, err, want)
	}
}

func TestAViewOfAnotherFileIsRefused(t *testing.T) {
	f := read(t, "auto", codex)
	m := f.Messages()
	parsed := func(item string) message.Message {
		m, err := f.Wire().ParseMessage([]byte(item))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, c := range map[string]struct {
		view    []message.Message
		sources []int
	}{
		"too few sources":              {m, seq(4)},
		"a source that does not exist": {m[:1], []int{9}},
		"another message":              {[]message.Message{m[0], message.User("x")}, []int{0, 1}},
		"another number of parts":      {[]message.Message{m[0], m[2]}, []int{0, 1}},
		"an additional part":           {[]message.Message{m[0], parsed(`{"role":"user","content":[{"type":"input_text","text":"q"},{"type":"input_text","text":"r"}]}`)}, []int{0, 1}},
		"other arguments":              {[]message.Message{m[0], parsed(strings.Replace(`{"items":[`+string(m[2].Raw())+`]}`, `"{}"`, `"{ }"`, 1))}, []int{0, 2}},
	} {
		if out, err := f.Write(c.view, c.sources); err == nil {
			t.Errorf("%s: no error, written as %s", name, out)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{claudeCode, codex, `[{"role":"user","parts":[{"text":"x"}]}]`, `{"messages":[{"role":"user","content":"x"}],"model":"m"}`,
		`{"info":{"id":"ses_1"},"messages":[{"info":{"role":"assistant"},"parts":[{"type":"tool","callID":"c","tool":"f","state":{"input":{},"output":"x"}}]}]}`,
		`{"type":"assistant.message","data":{"content":"x","toolRequests":[{"toolCallId":"c","name":"f","arguments":{}}]}}` + "\n" + `{"type":"tool.execution_complete","data":{"toolCallId":"c","result":{"content":"x"}}}`,
		`{"type":"message","message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"x"}]}}`,
		`{"sessionId":"s","projectHash":"h","messages":[{"type":"gemini","content":"x","toolCalls":[{"name":"f","args":{},"result":[]}]}]}`,
		`{"trajectory":[],"history":[{"role":"tool","tool_call_ids":["a"],"content":"x"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(comesBack)
}

// comesBack checks that data which a format reads is written as it was, and that a view of
// it is read again.
func comesBack(t *testing.T, data []byte) {
	for _, name := range append([]string{"auto"}, formats.Names()...) {
		file, err := formats.Read(name, data)
		if err != nil {
			continue
		}
		msgs := file.Messages()
		out, err := file.Write(slices.Clone(msgs), seq(len(msgs)))
		if err != nil || !bytes.Equal(out, data) && !bytes.Contains(data, []byte("meta")) {
			t.Fatalf("%s: %q became %q, want it unchanged; error %v", name, data, out, err)
		}
		view := append([]message.Message{message.User("made")}, msgs...)
		if out, err = file.Write(view, append([]int{-1}, seq(len(msgs))...)); err != nil {
			continue
		}
		if _, err := formats.Read(file.Format(), out); err != nil {
			t.Fatalf("%s: the written file can't be read: %v: %q", name, err, out)
		}
	}
}
