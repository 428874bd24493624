package compact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/storage/memory"
)

// BenchmarkResultsInOneMessage makes the first call for a round of many parallel
// calls whose results are one message of a wire: the time per result must not
// grow with their number.
func BenchmarkResultsInOneMessage(b *testing.B) {
	for _, n := range []int{250, 1000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			req, err := anthropic.Wire.ParseRequest(parallelCalls(n), nil)
			if err != nil {
				b.Fatal(err)
			}
			took := 0
			for b.Loop() {
				m, err := compact.New(b.Context(), compact.Config{Model: "gpt-4o", MaxContextTokens: 2_000 + 60*n, Archive: memory.New()})
				if err != nil {
					b.Fatal(err)
				}
				res, err := m.Preflight(b.Context(), "s", req.Messages(), compact.WithModel("gpt-4o"), compact.WithRequest(req))
				if err != nil {
					b.Fatal(err)
				}
				if took = res.Before.Total - res.After.Total; took <= 0 {
					b.Fatalf("nothing was reduced: %s", res.Reason)
				}
				_ = m.Close(b.Context())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/result")
		})
	}
}

func parallelCalls(n int) []byte {
	var body strings.Builder
	body.WriteString(`{"model":"claude-sonnet-4","max_tokens":100,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[`)
	for i := range n {
		fmt.Fprintf(&body, `%s{"type":"tool_use","id":"c%d","name":"f","input":{}}`, comma(i), i)
	}
	body.WriteString(`]},{"role":"user","content":[`)
	for i := range n {
		fmt.Fprintf(&body, `%s{"type":"tool_result","tool_use_id":"c%d","content":%q}`, comma(i), i, strings.Repeat("output of the tool ", 15))
	}
	body.WriteString(`]},{"role":"assistant","content":"done"},{"role":"user","content":"and now?"}]}`)
	return []byte(body.String())
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}
