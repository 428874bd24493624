package otel_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/otel"
)

// BenchmarkCallWithTracing measures the cost of tracing for a call: the same growing
// session goes through a manager without exporters and through one with all of them
// (Ariadne, spans and metrics by OTLP), call by call in turn, so that both run under
// the same load. It prints the medians of both and their ratio. A model would think for
// seconds between two calls; the benchmark waits two milliseconds.
//
//	go test ./trace/otel -run '^$' -bench CallWithTracing -benchtime 20x
func BenchmarkCallWithTracing(b *testing.B) {
	up := (&receiver{status: 200}).start(b)
	var took [2][]time.Duration
	for round := range b.N {
		managers := [2]*compact.CompactManager{traced(b), traced(b, allExporters(b, up)...)}
		history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
		for i := range 60 {
			for k := range managers {
				which := (k + i + round) % 2 // the two take turns at being the first
				began := time.Now()
				if _, err := managers[which].Preflight(context.Background(), "s", history); err != nil {
					b.Fatal(err)
				}
				took[which] = append(took[which], time.Since(began))
				time.Sleep(2 * time.Millisecond)
			}
			id := fmt.Sprintf("call_%d", i)
			history = append(history, message.Assistant("Next.", message.Call(id, "read", fmt.Sprintf(`{"n":%d}`, i))),
				message.ToolResult(id, fmt.Sprintf("file %d\n", i)+strings.Repeat("func f() error { return nil }\n", 150)))
		}
		for _, m := range managers {
			if err := m.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	without, with := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(float64(without.Nanoseconds())/1e3, "without-p50-µs")
	b.ReportMetric(float64(with.Nanoseconds())/1e3, "with-p50-µs")
	b.ReportMetric(float64(with)/float64(without), "with/without")
	b.ReportMetric(0, "ns/op") // the standard figure has no meaning here
}

func traced(b *testing.B, exporters ...trace.Exporter) *compact.CompactManager {
	b.Helper()
	m, err := compact.New(context.Background(), compact.Config{Model: "gpt-4o", MaxContextTokens: 64_000, Archive: memory.New(), Exporters: exporters})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func allExporters(b *testing.B, url string) []trace.Exporter {
	b.Helper()
	spans, err := otel.NewOTLP(b.Context(), url, nil)
	if err != nil {
		b.Fatal(err)
	}
	counts, err := otel.NewOTLPMetrics(b.Context(), url, nil, &otel.MetricsOptions{Interval: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	return []trace.Exporter{ariadne.New(url, &ariadne.Options{ErrorLog: io.Discard}), spans, counts}
}
