package compact_test

import (
	"fmt"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage/record"
)

// An agent loop in the format of each wire: rounds of one call and its result.
var wireLoops = []struct {
	wire        wire.Format
	head, round string // forms of the beginning and of a round, with its number and text
	tail        string
}{
	{openai.Wire, `{"model":"gpt-4","messages":[{"role":"user","content":"go"}`,
		`,{"role":"assistant","content":"Step %[1]d.","tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"read","arguments":"{\"n\":%[1]d}"}}]},{"role":"tool","tool_call_id":"c%[1]d","content":"%[2]s"}`, `]}`},
	{responses.Wire, `{"model":"gpt-4","input":[{"role":"user","content":"go"}`,
		`,{"type":"function_call","call_id":"c%[1]d","name":"read","arguments":"{\"n\":%[1]d}"},{"type":"function_call_output","call_id":"c%[1]d","output":"%[2]s"}`, `]}`},
	{anthropic.Wire, `{"model":"claude","max_tokens":100,"messages":[{"role":"user","content":"go"}`,
		`,{"role":"assistant","content":[{"type":"text","text":"Step %[1]d."},{"type":"tool_use","id":"c%[1]d","name":"read","input":{"n":%[1]d}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":"%[2]s"}]}`, `]}`},
	{gemini.Wire, `{"contents":[{"role":"user","parts":[{"text":"go"}]}`,
		`,{"role":"model","parts":[{"functionCall":{"name":"read","args":{"n":%[1]d}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"%[2]s"}}}]}`, `]}`},
}

func TestRecallReadsTheLinesOfEveryWire(t *testing.T) {
	for _, w := range wireLoops {
		t.Run(w.wire.Name(), func(t *testing.T) {
			var body strings.Builder
			body.WriteString(w.head)
			for i := range 60 {
				fmt.Fprintf(&body, w.round, i, fmt.Sprintf("result %d\\n%s", i, text(200)))
			}
			body.WriteString(w.tail)
			req, err := w.wire.ParseRequest([]byte(body.String()), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, compact.Config{MaxContextTokens: 8_000})
			res := r.preflight(req.Messages(), compact.WithRequest(req), compact.WithModel("gpt-4"))
			if !res.Triggered {
				t.Fatal("no compaction was triggered")
			}
			other := newRig(t, compact.Config{Archive: r.archive})
			asked := 0
			for _, m := range req.Messages() {
				for _, p := range m.Parts {
					want := p.Text
					if p.Kind == message.KindToolCall {
						want = p.Name + " " + string(p.Args)
					}
					if got, err := other.Recall(t.Context(), "s", testkey.Ref(p)); err != nil || got != want {
						t.Fatalf("recalled %.60q, %v; want %.60q", got, err, want)
					}
					asked++
				}
			}
			if got, err := other.Recall(t.Context(), "s", "turn:5:observation"); err != nil || got != "result 4\n"+text(200) {
				t.Errorf("turn 5: %.60q, %v", got, err)
			}
			if asked < 100 {
				t.Errorf("only %d parts, want at least 100", asked)
			}
			report, err := record.Verify(t.Context(), r.archive, "s", record.VerifyOptions{Refs: recall.Refs})
			if err != nil || !report.OK() {
				t.Errorf("%v, %v; want no error and no problems", err, report.Problems)
			}
		})
	}
}
