package compact_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
)

// costWindows are windows that fit a session of 3,000 turns after the compactions of
// each preset: some presets remove only tool results.
var costWindows = map[string]int{"masking": 1_000_000, "history-reducer": 400_000}

func costWindow(preset string) int {
	if w, ok := costWindows[preset]; ok {
		return w
	}
	return 128_000
}

// costTurn returns a turn of an agent loop: 150 bytes of text, and a result of 1,000
// bytes. Every 40th begins with a request.
func costTurn(i int) []message.Message {
	id := fmt.Sprintf("call_%d", i)
	var turn []message.Message
	if i%40 == 0 {
		turn = append(turn, message.User(fmt.Sprintf("Request %d: make the next test pass.", i/40)))
	}
	return append(turn,
		message.Assistant(fmt.Sprintf("Step %d. I look at the next file and think about what it means for the tests.", i), message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/file%d.go"}`, i))),
		message.ToolResult(id, fmt.Sprintf("// file %d\n", i)+strings.Repeat("func f() error { return nil }\n", 33)))
}

func costHistory(turns int) []message.Message {
	h := []message.Message{message.System("You fix bugs.")}
	for i := range turns {
		h = append(h, costTurn(i)...)
	}
	return h
}

func costManager(tb testing.TB, preset string, a storage.Archive) *compact.CompactManager {
	tb.Helper()
	m, err := compact.New(context.Background(), compact.Config{Preset: preset, Model: "gpt-4o", MaxContextTokens: costWindow(preset), Archive: a})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// BenchmarkCall measures one call of the hook late in a session that was compacted as
// it grew, for every preset: in processor time of the process, so that a busy machine
// or a slow disk does not stretch it. "warm" is a call with one more turn than the
// previous one, the median of the last 32, and "mean" is their mean, including
// compactions and garbage collection; "wall" is the median of the elapsed time, with
// everything durable if the archive is a disk. "cold" is the first call of another
// process, which reads the ledger.
func BenchmarkCall(b *testing.B) {
	for _, preset := range compact.Presets() {
		for _, turns := range []int{100, 300, 1000, 3000} {
			for _, disk := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/turns=%d/disk=%v", preset, turns, disk), func(b *testing.B) {
					for b.Loop() {
						measureCall(b, preset, turns, disk)
					}
				})
			}
		}
	}
}

func measureCall(b *testing.B, preset string, turns int, disk bool) {
	ctx := context.Background()
	var a storage.Archive = memory.New()
	if disk {
		var err error
		if a, err = fs.Open(b.TempDir()); err != nil {
			b.Fatal(err)
		}
	}
	m := costManager(b, preset, a)
	const last = 32
	var calls, wall []time.Duration
	steps := 0
	history := costHistory(turns)
	for n := range history {
		if history[n].Role != message.RoleTool {
			continue
		}
		began := time.Now()
		cpu := cputime.Used()
		res, err := m.Preflight(ctx, "s", history[:n+1])
		if err != nil {
			b.Fatal(err)
		}
		steps = max(steps, res.Step)
		calls = append(calls, cputime.Used()-cpu)
		wall = append(wall, time.Since(began))
	}
	calls, wall = calls[turns-last:], wall[turns-last:]
	b.ReportMetric(milliseconds(middle(calls)), "warm-ms")
	b.ReportMetric(milliseconds(mean(calls)), "mean-ms")
	b.ReportMetric(milliseconds(middle(wall)), "wall-ms")
	b.ReportMetric(float64(steps), "steps")
	if err := m.Close(ctx); err != nil {
		b.Fatal(err)
	}
	m = costManager(b, preset, a)
	defer func() { _ = m.Close(ctx) }()
	history = costHistory(turns) // read again
	cpu := cputime.Used()
	if _, err := m.Preflight(ctx, "s", history); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(milliseconds(cputime.Used()-cpu), "cold-ms")
	b.ReportMetric(0, "ns/op")
}

func middle(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func mean(d []time.Duration) time.Duration {
	sum := time.Duration(0)
	for i := range d {
		sum += d[i]
	}
	return sum / time.Duration(len(d))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
