package compact_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/storage/memory"
)

// coldCall returns the processor time of the first call of a process, with a history of
// a given number of new messages. The call counts the messages, compacts if a
// compaction is due, and writes to an archive in memory.
func coldCall(tb testing.TB, preset string, messages int) time.Duration {
	tb.Helper()
	ctx := context.Background()
	c := compact.Config{Preset: preset, Model: "gpt-4o", MaxContextTokens: costWindow(preset), Archive: memory.New()}
	switch preset {
	case "masking": // no other messages are removed
		c.MaxContextTokens = 40 * messages
	case "graduated": // in a larger window, 1,000 messages need only masks, while longer histories also need a summary
		c.MaxContextTokens = 32_000
	}
	m, err := compact.New(ctx, c)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = m.Close(ctx) }()
	history := costHistory(messages/2 + 1)[:messages]
	runtime.GC()
	cpu := cputime.Used()
	if _, err := m.Preflight(ctx, "s", history); err != nil {
		tb.Fatal(err)
	}
	return cputime.Used() - cpu
}

// BenchmarkHistoryLength measures how the cost of a cold call grows with the length of
// the history: a slope of 1 on logarithmic scales is linear, 2 is quadratic. Each cost is
// the median of three calls.
func BenchmarkHistoryLength(b *testing.B) {
	lengths := []int{1_000, 10_000, 100_000}
	for _, preset := range compact.Presets() {
		b.Run(preset, func(b *testing.B) {
			for b.Loop() {
				var first, last time.Duration
				for _, n := range lengths {
					three := []time.Duration{coldCall(b, preset, n), coldCall(b, preset, n), coldCall(b, preset, n)}
					slices.Sort(three)
					last = three[1]
					if first == 0 {
						first = last
					}
					b.ReportMetric(milliseconds(last), fmt.Sprintf("ms/%d", n))
				}
				ratio := float64(last) / float64(first)
				b.ReportMetric(math.Log(ratio)/math.Log(float64(lengths[len(lengths)-1])/float64(lengths[0])), "slope")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}
