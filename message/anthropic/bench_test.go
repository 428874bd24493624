package anthropic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/wire"
)

// thousand returns a request of 1000 messages and about 1 MB: code, prose and
// results of tools.
func thousand() []byte {
	text := strings.Repeat(`func main() {\n\tfmt.Println(\"hello\")\n}\n// and then some prose that has no escapes at all, as most of it `, 16)
	items := []string{u("task")}
	for i := 0; len(items) < 1000; i++ {
		id := fmt.Sprintf("toolu_%06d", i)
		items = append(items, c(id), fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"%d %s"}]}`, id, i, text))
	}
	return []byte(`{"model":"claude","max_tokens":4096,"system":"s","messages":[` + strings.Join(items, ",") + `]}`)
}

func BenchmarkParseRequest(b *testing.B) {
	data := thousand()
	for name, c := range map[string]*wire.Cache{"cold": nil, "warm": wire.NewCache(0)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if r, err := anthropic.Wire.ParseRequest(data, c); err != nil || len(r.Messages()) < 1000 {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRequest(b *testing.B) {
	r, err := anthropic.Wire.ParseRequest(thousand(), nil)
	if err != nil {
		b.Fatal(err)
	}
	msgs := r.Messages()
	all := seq(len(msgs))
	view, sources := append([]message.Message{msgs[0], message.Assistant(message.SummaryText(1, "s"))}, msgs[500:]...), append([]int{0, -1}, all[500:]...)
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if found := r.Check(msgs, all); len(found) > 0 {
				b.Fatal(found)
			}
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Write(msgs, all); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := r.Write(view, sources); err != nil {
				b.Fatal(err)
			}
		}
	})
}
