package formats_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
)

// times returns n elements of a list.
func times(n int, element string) string {
	if !strings.Contains(element, "%") {
		return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
	}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, element, i)
	}
	return b.String()
}

// large returns bodies of n parts, members or messages; a quadratic pass over
// them would take minutes.
func large(n int) map[string]wireBody {
	return map[string]wireBody{
		"texts in a message":      {openai.Wire, `{"messages":[{"role":"user","content":[` + times(n, `{"type":"text","text":"0123456789"}`) + `]}]}`},
		"fields that are cut out": {anthropic.Wire, `{"messages":[{"role":"user","content":"x",` + times(n, `"meta":{}`) + `}]}`},
		"likewise, chat":          {openai.Wire, `{"messages":[{"role":"user","content":"x",` + times(n, `"meta":{}`) + `}]}`},
		"texts in a result": {anthropic.Wire, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[` +
			times(n, `{"type":"text","text":"0123456789"}`) + `]}]}]}`},
		"results in a message": {anthropic.Wire, `{"messages":[{"role":"assistant","content":[` + times(n, `{"type":"tool_use","id":"c%d","name":"f","input":{}}`) + `]},{"role":"user","content":[` +
			times(n, `{"type":"tool_result","tool_use_id":"c%d","content":"x"}`) + `]}]}`},
		"results that are objects": {gemini.Wire, `{"contents":[{"role":"model","parts":[` + times(n, `{"functionCall":{"name":"f","args":{}}}`) + `]},{"role":"user","parts":[` +
			times(n, `{"functionResponse":{"name":"f","response":{"a":1,"b":2}}}`) + `]}]}`},
		"compactions": {anthropic.Wire, `{"messages":[` + times(n, `{"role":"assistant","content":[{"type":"compaction","content":"x"}]}`) + `]}`},
	}
}

type wireBody struct {
	format wire.Format
	body   string
}

// pass processes a body like a call, and returns the written body.
func (b wireBody) pass(tb testing.TB) string {
	tb.Helper()
	req, err := b.format.ParseRequest([]byte(b.body), nil)
	if err != nil {
		tb.Fatal(err)
	}
	view := req.Messages()
	for i := range view {
		_, _ = view[i].Text(), view[i].ResultText()
	}
	message.Rounds(view)
	req.Check(view, seq(len(view)))
	out, err := req.Write(view, seq(len(view)))
	if err != nil {
		tb.Fatal(err)
	}
	return string(out)
}

func TestLargeBodiesAreWrittenBackWithoutMeta(t *testing.T) {
	for name, b := range large(500) {
		want := strings.ReplaceAll(b.body, `,"meta":{}`, "")
		if out := b.pass(t); out != want {
			t.Errorf("%s: written as %.80q, want %.80q", name, out, want)
		}
	}
}

// BenchmarkLargeBodies makes a call with a body of a given number of parts, members or
// messages: the time per element must not grow with their number.
func BenchmarkLargeBodies(b *testing.B) {
	for _, n := range []int{5_000, 20_000, 80_000} {
		bodies := large(n)
		for _, name := range slices.Sorted(maps.Keys(bodies)) {
			body := bodies[name]
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "_"), n), func(b *testing.B) {
				for b.Loop() {
					body.pass(b)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/element")
			})
		}
	}
}
