package compact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage/memory"
)

// BenchmarkPreflightMarks is a call with a history of 1,000 messages that did not change:
// without marks, with marks of the caller, and with automatic ones.
func BenchmarkPreflightMarks(b *testing.B) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	for _, c := range []struct{ name, marks, at string }{{"none", "keep", ""}, {"caller", "keep", mark}, {"auto", "auto", ""}} {
		var body strings.Builder
		fmt.Fprintf(&body, `{"model":"claude-sonnet-4-5","system":[{"type":"text","text":"Fix bugs."%s}],"messages":[{"role":"user","content":"Go."}`, c.at)
		for i := range 499 {
			last := ""
			if i == 498 {
				last = c.at
			}
			fmt.Fprintf(&body, `,{"role":"assistant","content":[{"type":"tool_use","id":"c%d","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":%q%s}]}`, i, i, strings.Repeat("word ", 60), last)
		}
		body.WriteString("]}")
		b.Run(c.name, func(b *testing.B) {
			m, err := compact.New(context.Background(), compact.Config{Archive: memory.New(), MaxContextTokens: 200_000, Cache: compact.CacheConfig{Marks: c.marks}})
			if err != nil {
				b.Fatal(err)
			}
			cache := wire.NewCache(16 << 20)
			for b.Loop() {
				req, err := anthropic.Wire.ParseRequest([]byte(body.String()), cache)
				if err != nil {
					b.Fatal(err)
				}
				res, err := m.Preflight(context.Background(), "s", req.Messages(), compact.WithRequest(req))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := req.(wire.Marker).WriteMarked(res.Messages, res.Sources, res.Settled()); err != nil {
					b.Fatal(err)
				}
				m.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true, CachedTokens: res.After.Total / 3})
			}
		})
	}
}
