package ariadne

import (
	"io"
	"testing"
	"time"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
	"github.com/agentcompact/compact/trace/tracetest"
)

// BenchmarkEncode measures the cost of one event before it is posted.
func BenchmarkEncode(b *testing.B) {
	b.ReportAllocs()
	e := New("http://127.0.0.1:1", &Options{ErrorLog: io.Discard})
	at := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	n := 0
	for b.Loop() {
		at = at.Add(time.Minute)
		var t tally
		events := sampleOnce(at)
		n += len(events)
		e.encode(events, &t)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
}

func sampleOnce(at time.Time) []trace.Event { return tracetest.Sample(at) }

func BenchmarkPost(b *testing.B) {
	b.ReportAllocs()
	srv := ariadnetest.NewServer(b)
	srv.Discard()
	e := New(srv.URL, &Options{ErrorLog: io.Discard})
	at := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	n := 0
	for b.Loop() {
		var events []trace.Event
		for range 70 {
			at = at.Add(time.Minute)
			events = append(events, tracetest.Sample(at)...)
		}
		n += len(events)
		if err := e.Export(b.Context(), events); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/event")
}
