package formats_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
)

// logs holds a small log of each agent, with the log's messages. The logs have calls
// that succeed, fail and still run, and entries without a message.
var logs = map[string]struct {
	log  string
	want []string
}{
	"codex, instructions by themselves": {
		`{"type":"session_meta","payload":{"id":"s","instructions":"be good","base_instructions":null}}
{"type":"response_item","payload":{"role":"user","content":"q"}}
{"type":"session_meta","payload":{"id":"s","instructions":"of another session"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":"done"}}
`,
		[]string{`{"type":"message","role":"system","content":"be good"}`, `{"role":"user","content":"q"}`, `{"type":"message","role":"assistant","content":"done"}`},
	},
	"copilot": {
		`{"type":"system.message","data":{"content":"be good"}}
{"type":"user.message","data":{"content":"q"}}
{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"a","name":"f","arguments":{"n":1}},{"toolCallId":"b","name":"g","arguments":{}}]}}
{"type":"tool.execution_start","data":{"toolCallId":"a"}}
{"type":"tool.execution_complete","data":{"toolCallId":"a","result":{"content":"out"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"b","error":{"message":"no such file"}}}
{"type":"tool.execution_complete","data":{}}
{"type":"assistant.message","data":{"content":""}}
{"type":"assistant.message","data":{"content":"done","toolRequests":[]}}
`,
		[]string{
			`{"role":"system","content":"be good"}`,
			`{"role":"user","content":"q"}`,
			`{"role":"assistant","tool_calls":[{"type":"function","id":"a","function":{"name":"f","arguments":{"n":1}}},{"type":"function","id":"b","function":{"name":"g","arguments":{}}}]}`,
			`{"role":"tool","tool_call_id":"a","content":"out"}`,
			`{"role":"tool","tool_call_id":"b","content":"no such file"}`,
			`{"role":"assistant","content":"done"}`,
		},
	},
	"pi": {
		`{"type":"session","id":"s"}
{"type":"message","message":{"role":"user","content":"q","timestamp":1}}
{"type":"message","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"QQ"},{"type":"text","text":"let me see"},{"type":"toolCall","id":"a","name":"f","arguments":{"n":1}}]}}
{"type":"message","message":{"role":"toolResult","toolCallId":"a","isError":true,"content":[{"type":"text","text":"out"},{"type":"image","mimeType":"image/png","data":"AAAA"}]}}
{"type":"message","message":{"role":"assistant","content":[]}}
{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"b","name":"f","arguments":{}}]}}
{"type":"message","message":{"role":"toolResult","toolCallId":"b","content":"plain"}}
`,
		[]string{
			`{"role":"user","content":"q"}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"QQ"},{"type":"text","text":"let me see"},{"type":"tool_use","id":"a","name":"f","input":{"n":1}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"out"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"f","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"plain"}]}`,
		},
	},
	"opencode": {
		`{"info":{"id":"ses_1"},"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"q"}]},
{"info":{"role":"assistant"},"parts":[{"type":"step-start"},{"type":"text","text":"let me see"},
 {"type":"tool","callID":"a","tool":"f","state":{"status":"completed","input":{"n":1},"output":"out"}},
 {"type":"tool","callID":"b","tool":"g","state":{"status":"error","input":{},"error":"no such file"}},
 {"type":"tool","callID":"c","tool":"h","state":{"status":"running","input":{}}}]},
{"info":{"role":"assistant"},"parts":[{"type":"tool","callID":"d","tool":"f","state":{"input":{},"output":"last"}}]},
{"info":{"role":"assistant"},"parts":[{"type":"step-start"}]}]}`,
		[]string{
			`{"role":"user","content":[{"type":"text","text":"q"}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"let me see"}],"tool_calls":[{"type":"function","id":"a","function":{"name":"f","arguments":{"n":1}}},{"type":"function","id":"b","function":{"name":"g","arguments":{}}},{"type":"function","id":"c","function":{"name":"h","arguments":{}}}]}`,
			`{"role":"tool","tool_call_id":"a","content":"out"}`,
			`{"role":"tool","tool_call_id":"b","content":"no such file"}`,
			`{"role":"assistant","content":null,"tool_calls":[{"type":"function","id":"d","function":{"name":"f","arguments":{}}}]}`,
			`{"role":"tool","tool_call_id":"d","content":"last"}`,
		},
	},
	"openhands": {
		`{"history":[{"kind":"SystemPromptEvent","system_prompt":{"text":"be good"}},
{"kind":"MessageEvent","llm_message":{"role":"user","content":[{"type":"text","text":"q"}]}},
{"kind":"ActionEvent","thought":[{"type":"text","text":"let me see"}],"reasoning_content":"hm","tool_call":{"id":"a","name":"f","arguments":"{}"}},
{"kind":"ObservationEvent","tool_call_id":"a","observation":{"content":[{"type":"text","text":"out"}]}},
{"kind":"ActionEvent","thought":[],"tool_call":{"id":"b","name":"g","arguments":"{}"}},
{"kind":"AgentErrorEvent","tool_call_id":"b","error":"no such tool"},
{"kind":"ActionEvent","thought":[],"tool_call":{"id":"c","name":"f","arguments":"{}"}},
{"kind":"ObservationEvent","tool_call_id":"c","observation":{"output":"plain","content":"other"}},
{"kind":"PauseEvent"}]}`,
		[]string{
			`{"role":"system","content":"be good"}`,
			`{"role":"user","content":[{"type":"text","text":"q"}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"let me see"}],"reasoning_content":"hm","tool_calls":[{"type":"function","id":"a","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"out"}]}`,
			`{"role":"assistant","tool_calls":[{"type":"function","id":"b","function":{"name":"g","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"b","content":"no such tool"}`,
			`{"role":"assistant","tool_calls":[{"type":"function","id":"c","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"c","content":"plain"}`,
		},
	},
	"openhands, the older format": {
		`{"history":[{"source":"agent","action":"system","args":{"content":"be good"}},
{"source":"user","action":"message","args":{"content":"q"}},
{"source":"agent","action":"run","args":{"command":"ls","thought":"let me see"},"tool_call_metadata":{"tool_call_id":"a","function_name":"f"}},
{"source":"agent","observation":"run","content":"out","tool_call_metadata":{"tool_call_id":"a","function_name":"f"}},
{"source":"environment","observation":"agent_state_changed","content":""},
{"source":"agent","action":"message","args":{"content":"done"}}]}`,
		[]string{
			`{"role":"system","content":"be good"}`,
			`{"role":"user","content":"q"}`,
			`{"role":"assistant","content":"let me see","tool_calls":[{"type":"function","id":"a","function":{"name":"f","arguments":{"command":"ls","thought":"let me see"}}}]}`,
			`{"role":"tool","tool_call_id":"a","content":"out"}`,
			`{"role":"assistant","content":"done"}`,
		},
	},
	"langgraph": {
		`{"values":{"messages":[{"type":"system","content":"be good"},{"type":"human","content":"q"},
{"type":"ai","content":"","additional_kwargs":{"reasoning_content":"hm"},"tool_calls":[{"id":"a","name":"f","args":{"n":1}}]},
{"type":"tool","content":"out","tool_call_id":"a"},{"type":"remove","content":"x"},{"type":"ai","content":"done","tool_calls":[]}]}}`,
		[]string{
			`{"role":"system","content":"be good"}`,
			`{"role":"user","content":"q"}`,
			`{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[{"type":"function","id":"a","function":{"name":"f","arguments":{"n":1}}}]}`,
			`{"role":"tool","content":"out","tool_call_id":"a"}`,
			`{"role":"assistant","content":"done"}`,
		},
	},
	"tau2-bench": {
		`{"simulation":{"messages":[{"role":"assistant","content":"hi"},{"role":"user","content":"q"},
{"role":"assistant","content":null,"tool_calls":[{"id":"a","name":"f","arguments":{"n":1},"requestor":"assistant"}]},
{"role":"tool","id":"a","content":"out","requestor":"assistant"},
{"role":"user","content":null,"tool_calls":[{"id":"u","name":"g","arguments":{},"requestor":"user"}]},
{"role":"tool","id":"u","content":"seen by the user","requestor":"user"},{"role":"user","content":"thanks"}]}}`,
		[]string{
			`{"role":"assistant","content":"hi"}`,
			`{"role":"user","content":"q"}`,
			`{"role":"assistant","tool_calls":[{"type":"function","id":"a","function":{"name":"f","arguments":{"n":1}}}]}`,
			`{"role":"tool","content":"out","tool_call_id":"a"}`,
			`{"role":"user","content":"thanks"}`,
		},
	},
	"swe-agent": {
		`{"trajectory":[],"history":[{"role":"system","content":"be good"},{"role":"user","content":"q"},
{"role":"assistant","content":"x","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_ids":["a"],"content":"out","agent":"main"}]}`,
		[]string{
			`{"role":"system","content":"be good"}`,
			`{"role":"user","content":"q"}`,
			`{"role":"assistant","content":"x","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"a","content":"out"}`,
		},
	},
	"gemini-cli": {
		`{"sessionId":"s","projectHash":"h","messages":[{"type":"user","content":["q",{"text":"r"}]},
{"type":"gemini","content":[],"toolCalls":[{"id":"a","name":"f","args":{"n":1},"result":[{"functionResponse":{"id":"a","name":"f","response":{"output":"out"}}}]},{"id":"b","name":"g","args":{}}]},
{"type":"info","content":"saved"},{"type":"gemini","content":""},{"type":"gemini","content":"done","thoughts":[]}]}`,
		[]string{
			`{"role":"user","parts":[{"text":"q"},{"text":"r"}]}`,
			`{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{"n":1}}},{"functionCall":{"id":"b","name":"g","args":{}}}]}`,
			`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{"output":"out"}}}]}`,
			`{"role":"model","parts":[{"text":"done"}]}`,
		},
	},
}

func raws(msgs []message.Message) (out []string) {
	for _, m := range msgs {
		out = append(out, string(m.Raw()))
	}
	return out
}

func TestEveryLogIsReadAsItsMessages(t *testing.T) {
	for name, c := range logs {
		t.Run(name, func(t *testing.T) {
			f := read(t, "auto", c.log)
			agent, _, _ := strings.Cut(name, ",")
			if diff := cmp.Diff(c.want, raws(f.Messages())); diff != "" || f.Format() != agent {
				t.Errorf("%s %s, want %s and none", f.Format(), diff, agent)
			}
		})
	}
}

// Messages that a compaction adds to a log are read back with their role and their text.
func TestNewMessagesInALogAreReadBack(t *testing.T) {
	for name, c := range logs {
		t.Run(name, func(t *testing.T) {
			f := read(t, "auto", c.log)
			n := len(f.Messages())
			made := []message.Message{message.Assistant(message.SummaryText(2, "so far")), message.User("made\n\"here\"")}
			out, err := f.Write(append(slices.Clone(f.Messages()), made...), append(seq(n), -1, -1))
			if err != nil {
				t.Fatal(err)
			}
			again, err := formats.Read("auto", out)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			got := again.Messages()
			if diff := cmp.Diff(c.want, raws(got[:min(n, len(got))])); diff != "" || len(got) != n+len(made) {
				t.Fatalf("%d messages %s", len(got), diff)
			}
			for i, m := range made {
				if got[n+i].Role != m.Role || got[n+i].Text() != m.Text() {
					t.Errorf("%s %q, want %s %q", got[n+i].Role, got[n+i].Text(), m.Role, m.Text())
				}
			}
		})
	}
}
