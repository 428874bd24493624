// Package tracetest helps to test code that emits or exports trace events: a
// [Recorder] that keeps events in memory, [Sample], which returns the events of
// one call, and [Run], which tests an exporter against its contract. A stand-in
// for Ariadne is in package trace/ariadne/ariadnetest.
package tracetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
)

// patience is the time limit for events that should happen soon.
const patience = 5 * time.Second

// Run checks that an exporter keeps the contract of [trace.Exporter]. open
// returns a new exporter, which may fail to deliver but must accept events.
func Run(t *testing.T, open func(testing.TB) trace.Exporter) {
	for _, c := range []struct {
		promise string
		check   func(*testing.T, trace.Exporter)
	}{
		{"Export must not modify the events", exportLeavesEventsAlone},
		{"Export must not keep the slice", exportLetsGoOfSlice},
		{"Export of no events returns nil", exportOfNothing},
		{"Export takes events of any content", exportOddEvents},
		{"Export returns soon after ctx is done", exportHonoursContext},
		{"after Shutdown, Export returns ErrShutdown", exportAfterShutdown},
		{"Shutdown returns soon also when ctx is done from the start", shutdownHonoursContext},
		{"a second Shutdown does nothing and returns nil", shutdownTwice},
	} {
		t.Run(strings.ReplaceAll(c.promise, " ", "_"), func(t *testing.T) {
			e := open(t)
			t.Cleanup(func() { // usually a second call
				_ = within(t, "Shutdown", func() error { return e.Shutdown(context.WithoutCancel(t.Context())) })
			})
			c.check(t, e)
			if t.Failed() {
				t.Logf("broken promise: %s", c.promise)
			}
		})
	}
}

func sample() []trace.Event {
	return Sample(time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC))
}

// export has a time limit: an exporter that hangs fails only its test.
func export(t *testing.T, ctx context.Context, e trace.Exporter, events []trace.Event) error {
	t.Helper()
	return within(t, "Export", func() error { return e.Export(ctx, events) })
}

// within runs f, and fails the test if it panics or takes too long.
func within(t *testing.T, what string, f func() error) error {
	t.Helper()
	type outcome struct {
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			done <- o
		}()
		o.err = f()
	}()
	select {
	case o := <-done:
		if o.panic != nil {
			t.Errorf("%s panicked: %v", what, o.panic)
		}
		return o.err
	case <-time.After(patience):
		t.Fatalf("%s did not return within %v", what, patience)
		return nil
	}
}

var byValue = cmp.Options{cmpopts.EquateComparable(redact.Text{}), cmpopts.EquateEmpty()}

func exportLeavesEventsAlone(t *testing.T, e trace.Exporter) {
	events := sample()
	want := slices.Clone(events)
	info := *events[len(events)-1].Trace
	want[len(want)-1].Trace = &info
	_ = export(t, t.Context(), e, events) // delivery is not tested here
	if diff := cmp.Diff(want, events, byValue); diff != "" {
		t.Errorf("events changed (-before +after):\n%s", diff)
	}
}

func exportLetsGoOfSlice(t *testing.T, e trace.Exporter) {
	events := sample()
	_ = export(t, t.Context(), e, events)
	clear(events) // the race detector reports an exporter that still reads the slice
	_ = export(t, t.Context(), e, sample())
}

func exportOfNothing(t *testing.T, e trace.Exporter) {
	if err := export(t, t.Context(), e, nil); err != nil {
		t.Errorf("Export(nil) = %v, want nil", err)
	}
}

func exportOddEvents(t *testing.T, e trace.Exporter) {
	at := time.Date(2026, 11, 21, 4, 10, 0, 0, time.UTC)
	for _, ev := range []trace.Event{
		{},
		{Name: trace.NameSession, TraceID: trace.NewTraceID()},
		{Name: "x", TraceID: "t", SpanID: "s", Start: at, End: at.Add(-time.Hour)},
		{Name: "x", TraceID: "t", SpanID: "s", Start: at, Data: redact.Lit("no JSON")},
		{Name: "x", TraceID: "t", SpanID: "s", End: at, Data: redact.Lit("{}"), Status: "strange"},
		{Name: "x", TraceID: "t", SpanID: "s", Start: at, End: at, Data: redact.Lit("[1,\"\xff\"]"), Trace: &trace.TraceInfo{}},
	} {
		_ = within(t, "Export", func() error { return e.Export(t.Context(), []trace.Event{ev}) })
	}
}

func exportHonoursContext(t *testing.T, e trace.Exporter) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = export(t, ctx, e, sample())
}

func exportAfterShutdown(t *testing.T, e trace.Exporter) {
	_ = within(t, "Shutdown", func() error { return e.Shutdown(t.Context()) })
	if err := export(t, t.Context(), e, sample()); !errors.Is(err, trace.ErrShutdown) {
		t.Errorf("Export after Shutdown = %v, want ErrShutdown", err)
	}
}

func shutdownHonoursContext(t *testing.T, e trace.Exporter) {
	_ = export(t, t.Context(), e, sample())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_ = within(t, "Shutdown", func() error { return e.Shutdown(ctx) })
}

func shutdownTwice(t *testing.T, e trace.Exporter) {
	_ = within(t, "Shutdown", func() error { return e.Shutdown(t.Context()) })
	if err := within(t, "Shutdown", func() error { return e.Shutdown(t.Context()) }); err != nil {
		t.Errorf("second Shutdown = %v, want nil", err)
	}
}
