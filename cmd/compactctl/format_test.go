package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// logs holds the forms of files: the text before a session, the form of a round
// with its number and output, and the texts between and after rounds.
var logs = map[string]struct{ head, round, between, tail string }{
	"anthropic": {`{"model":"claude-sonnet-4", "max_tokens":100, "system":"You fix bugs.", "messages":[{"role":"user","content":"Make the tests pass."}, `,
		`{"role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"bash","input":{"n":%[1]d}}]}, {"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":"%[2]s"}]}`,
		", ", `, {"role":"assistant","content":"Done."}, {"role":"user","content":"Thanks."}]}`},
	"responses": {`{"model":"gpt-5", "instructions":"You fix bugs.", "input":[{"role":"user","content":"Make the tests pass."}, `,
		`{"type":"reasoning","id":"rs_%[1]d","summary":[],"encrypted_content":"QUJD"}, {"type":"function_call","call_id":"c%[1]d","name":"bash","arguments":"{}"}, {"type":"function_call_output","call_id":"c%[1]d","output":"%[2]s"}`,
		", ", `, {"role":"assistant","content":"Done."}, {"role":"user","content":"Thanks."}]}`},
	"gemini": {`{"systemInstruction":{"parts":[{"text":"You fix bugs."}]}, "contents":[{"role":"user","parts":[{"text":"Make the tests pass."}]}, `,
		`{"role":"model","parts":[{"functionCall":{"name":"bash","args":{"n":%[1]d}}}]}, {"role":"user","parts":[{"functionResponse":{"name":"bash","response":{"output":"%[2]s"}}}]}`,
		", ", `, {"role":"model","parts":[{"text":"Done."}]}, {"role":"user","parts":[{"text":"Thanks."}]}]}`},
	"claude-code": {`{"type":"file-history-snapshot","messageId":"m"}` + "\n" + `{"type":"user","message":{"role":"user","content":"Make the tests pass."},"uuid":"u","sessionId":"s"}` + "\n",
		`{"type":"assistant","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"QQ"}]},"uuid":"a%[1]d"}` + "\n" +
			`{"type":"assistant","message":{"id":"m%[1]d","role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"bash","input":{}}]},"uuid":"b%[1]d"}` + "\n" +
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":"%[2]s"}]},"uuid":"c%[1]d"}`,
		"\n", "\n" + `{"type":"assistant","message":{"id":"z","role":"assistant","content":[{"type":"text","text":"Done."}]},"uuid":"z"}` + "\n" +
			`{"type":"user","message":{"role":"user","content":"Thanks."},"uuid":"y"}` + "\n"},
	"codex": {`{"type":"session_meta","payload":{"id":"s","base_instructions":{"text":"You fix bugs."}}}` + "\n" +
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Make the tests pass."}]}}` + "\n",
		`{"type":"response_item","payload":{"type":"reasoning","summary":[]}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call","call_id":"c%[1]d","name":"bash","arguments":"{}"}}` + "\n" +
			`{"type":"event_msg","payload":{"type":"token_count"}}` + "\n" + `{"type":"response_item","payload":{"type":"function_call_output","call_id":"c%[1]d","output":"%[2]s"}}`,
		"\n", "\n" + `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}` + "\n" +
			`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Thanks."}]}}` + "\n"},
}

// agentlog FILE form rounds [words] writes the session of an agent in one of
// these forms.
func cmdAgentLog(ts *testscript.TestScript, _ bool, args []string) {
	l, ok := logs[args[1]]
	if !ok {
		ts.Fatalf("no form %q", args[1])
	}
	rounds, err := strconv.Atoi(args[2])
	ts.Check(err)
	var all []string
	for i := range rounds {
		all = append(all, fmt.Sprintf(l.round, i, fmt.Sprintf(`FAIL p%d\n`, i)+strings.Repeat(`line of output\n`, 70)))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(l.head+strings.Join(all, l.between)+l.tail), 0o600))
}
