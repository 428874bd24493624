package compact_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/strategy"
)

// longSession returns an agent loop with a given number of messages, and results of a given
// number of bytes.
func longSession(messages, bytes int) []message.Message {
	msgs := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	for i := 0; len(msgs) < messages; i++ {
		id := fmt.Sprintf("call_%04d", i)
		msgs = append(msgs,
			message.Assistant(fmt.Sprintf("Step %d: look at file %d.", i, i), message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/file%d.go"}`, i))),
			message.ToolResult(id, fmt.Sprintf("file %d\n", i)+strings.Repeat("func f() error { return nil }\n", bytes/30)))
	}
	return msgs[:messages]
}

// BenchmarkPreflightNothingToDo measures the hook when no compaction is due:
// 1,000 known messages of 500 KB.
func BenchmarkPreflightNothingToDo(b *testing.B) {
	ctx := context.Background()
	m, err := compact.New(ctx, compact.Config{Model: "gpt-4o", MaxContextTokens: 1_000_000, Archive: memory.New()})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close(ctx)
	history := longSession(1000, 1000)
	if _, err := m.Preflight(ctx, "bench", history); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Preflight(ctx, "bench", history); err != nil {
			b.Fatal(err)
		}
	}
}

// summarizerStub answers at once. The time of a real summarizer is added to the
// result; in a soak, the benchmark really waits for it.
type summarizerStub struct {
	wait  time.Duration
	calls atomic.Int64
}

func (s *summarizerStub) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	s.calls.Add(1)
	time.Sleep(s.wait)
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] make the tests pass\n"}, ctx.Err()
}

// BenchmarkThousandTurns runs a session of 1,000 turns with at least 5
// compactions, with the archive on disk. It reports which share of the
// session's wall time the manager takes, with agent calls of 300 ms and a
// summarizer of 2 s. With COMPACT_SOAK=1 the benchmark really waits for both.
func BenchmarkThousandTurns(b *testing.B) {
	const agentCall, summary = 300 * time.Millisecond, 2 * time.Second
	for b.Loop() {
		stub := &summarizerStub{}
		pause := time.Duration(0)
		if os.Getenv("COMPACT_SOAK") == "1" {
			stub.wait, pause = summary, agentCall
		}
		a, err := fs.Open(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		ctx := context.Background()
		m, err := compact.New(ctx, compact.Config{Model: "gpt-4o", MaxContextTokens: 32_000, Archive: a, Summarize: stub})
		if err != nil {
			b.Fatal(err)
		}
		history := longSession(2, 0)
		var manager time.Duration
		cpu := cputime.Used()
		compactions := 0
		for turn := range 1000 {
			began := time.Now()
			res, err := m.Preflight(ctx, "s", history)
			manager += time.Since(began)
			if err != nil {
				b.Fatal(err)
			}
			if res.Triggered {
				compactions++
			}
			time.Sleep(pause)
			id := fmt.Sprintf("call_%d", turn)
			history = append(history,
				message.Assistant(strings.Repeat("I look at the next file and think about it. ", 8), message.Call(id, "read_file", `{"path":"a.go"}`)),
				message.ToolResult(id, strings.Repeat("func f() error { return nil }\n", 10)))
		}
		if err := m.Close(ctx); err != nil {
			b.Fatal(err)
		}
		manager -= time.Duration(stub.calls.Load()) * stub.wait
		asked := time.Duration(stub.calls.Load()) * summary
		session := 1000*agentCall + asked + manager
		b.ReportMetric(float64(compactions), "compactions")
		b.ReportMetric(float64(stub.calls.Load()), "summaries")
		b.ReportMetric(100*float64(manager+asked)/float64(session), "%all")
		b.ReportMetric(100*float64(manager)/float64(session), "%without-summarizer")
		// The same in processor time of the whole process, which does not
		// depend on other load.
		spent := cputime.Used() - cpu
		b.ReportMetric(100*float64(spent)/float64(1000*agentCall+asked+spent), "%cpu-without-summarizer")
		b.ReportMetric(float64(manager.Microseconds())/1000, "µs/turn")
	}
}
