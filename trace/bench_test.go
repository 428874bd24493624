package trace_test

import (
	"context"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// BenchmarkEmit measures the time of Emit for an event with redacted text, while the
// exporter hangs and the queue is full.
func BenchmarkEmit(b *testing.B) {
	stuck := &tracetest.Recorder{Stuck: make(chan struct{})}
	p := trace.NewPipeline([]trace.Exporter{stuck}, &trace.PipelineOptions{CloseTimeout: time.Millisecond})
	b.Cleanup(func() {
		close(stuck.Stuck)
		_ = p.Close(context.Background()) // the exporter was stuck, so Close misses its deadline
	})
	e := tracetest.Sample(time.Now())[1]
	for range 10_000 {
		p.Emit(e)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Emit(e)
	}
}

// BenchmarkEmitConcurrently emits from many goroutines.
func BenchmarkEmitConcurrently(b *testing.B) {
	p := trace.NewPipeline([]trace.Exporter{&discard{}, &discard{}}, nil)
	defer func() { _ = p.Close(context.Background()) }()
	e := tracetest.Sample(time.Now())[1]
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p.Emit(e)
		}
	})
}

type discard struct{}

func (*discard) Export(context.Context, []trace.Event) error { return nil }
func (*discard) Shutdown(context.Context) error              { return nil }

// BenchmarkEvent makes an event from a payload: the encoding and an id.
func BenchmarkEvent(b *testing.B) {
	at := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		p := trace.TokenEstimate{SessionID: "session-7f3a", Model: "gpt-4", TEst: 112_345, MaxTokens: 128_000}
		_ = trace.Encode(p)
		_ = trace.New(p, redact.Lit("{}"), at, at)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	e := tracetest.Sample(time.Now())[1]
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendJSON(buf[:0])
	}
}

func BenchmarkNewSpanID(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = trace.NewSpanID()
	}
}
