package formats_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// Bodies of which a pass over the parts, or the members, or the messages, for
// each of them would take minutes.
func TestLargeBodiesTakeTimeInProportion(t *testing.T) {
	const n, most = 60_000, 10 * time.Second
	for name, c := range map[string]struct {
		format wire.Format
		body   string
	}{
		"texts in a message":      {openai.Wire, `{"messages":[{"role":"user","content":[` + times(n, `{"type":"text","text":"0123456789"}`) + `]}]}`},
		"fields that are cut out": {anthropic.Wire, `{"messages":[{"role":"user","content":"x",` + times(n, `"meta":{}`) + `}]}`},
		"likewise, chat":          {openai.Wire, `{"messages":[{"role":"user","content":"x",` + times(n, `"meta":{}`) + `}]}`},
		"texts in a result": {anthropic.Wire, `{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[` +
			times(n, `{"type":"text","text":"0123456789"}`) + `]}]}]}`},
		"results in a message": {anthropic.Wire, `{"messages":[{"role":"assistant","content":[` + times(n, `{"type":"tool_use","id":"c%d","name":"f","input":{}}`) + `]},{"role":"user","content":[` +
			times(n, `{"type":"tool_result","tool_use_id":"c%d","content":"x"}`) + `]}]}`},
		"results that are objects": {gemini.Wire, `{"contents":[{"role":"model","parts":[` + times(n, `{"functionCall":{"name":"f","args":{}}}`) + `]},{"role":"user","parts":[` +
			times(n, `{"functionResponse":{"name":"f","response":{"a":1,"b":2}}}`) + `]}]}`},
		"compactions": {anthropic.Wire, `{"messages":[` + times(2*n, `{"role":"assistant","content":[{"type":"compaction","content":"x"}]}`) + `]}`},
	} {
		began := time.Now()
		req, err := c.format.ParseRequest([]byte(c.body), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		view := req.Messages()
		sources := make([]int, len(view))
		texts := 0
		for i := range view {
			sources[i] = i
			texts += len(view[i].Text()) + len(view[i].ResultText())
		}
		message.Rounds(view)
		req.Check(view, sources)
		out, err := req.Write(view, sources)
		if err != nil || len(out) == 0 || strings.Contains(string(out), `"meta"`) {
			t.Errorf("%s: written as %.80q: %v", name, out, err)
		}
		if took := time.Since(began); took > most {
			t.Errorf("%s: %v for %d bytes, of which %d are text", name, took, len(c.body), texts)
		}
	}
}
