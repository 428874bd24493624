package trace_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// numbered returns distinguishable events.
func numbered(from, to int) []trace.Event {
	var events []trace.Event
	for i := from; i <= to; i++ {
		events = append(events, trace.Event{Name: trace.NameTokenEstimate, SpanID: strconv.Itoa(i)})
	}
	return events
}

func ids(events []trace.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.SpanID)
	}
	return out
}

func exporters(e ...trace.Exporter) []trace.Exporter { return e }

func mustClose(t *testing.T, p *trace.Pipeline) {
	t.Helper()
	if err := p.Close(context.Background()); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

func TestPipelineDeliversInOrderToEveryExporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b tracetest.Recorder
		p := trace.NewPipeline(exporters(&a, &b), &trace.PipelineOptions{BatchEvents: 7})
		want := numbered(1, 1000)
		for chunk := range slices.Chunk(want, 3) {
			p.Emit(chunk...)
		}
		mustClose(t, p)
		for _, r := range []*tracetest.Recorder{&a, &b} {
			if !slices.Equal(ids(r.Events()), ids(want)) {
				t.Errorf("%d events arrived, or the order changed", len(r.Events()))
			}
			if r.Shutdowns() != 1 {
				t.Errorf("shut down %d times", r.Shutdowns())
			}
		}
	})
}

func TestPipelineLetsNoEventWaitLongerThanLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r tracetest.Recorder
		p := trace.NewPipeline(exporters(&r), nil)
		defer mustClose(t, p)
		for range 3 {
			p.Emit(numbered(1, 1)...)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(20*time.Millisecond - time.Nanosecond)
		synctest.Wait()
		if n := len(r.Events()); n != 0 {
			t.Errorf("%d events exported before the linger time", n)
		}
		time.Sleep(time.Nanosecond) // 50 ms since the first
		synctest.Wait()
		if r.Exports() != 1 || len(r.Events()) != 3 {
			t.Errorf("%d events in %d batches after 50 ms, want 3 in 1", len(r.Events()), r.Exports())
		}
	})
}

func TestPipelineExportsFullBatchAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r tracetest.Recorder
		p := trace.NewPipeline(exporters(&r), &trace.PipelineOptions{BatchEvents: 10, Linger: time.Hour})
		defer mustClose(t, p)
		p.Emit(numbered(1, 9)...)
		synctest.Wait()
		if n := len(r.Events()); n != 0 {
			t.Errorf("%d events exported from an unfilled batch", n)
		}
		p.Emit(numbered(10, 10)...)
		synctest.Wait()
		if n := len(r.Events()); n != 10 {
			t.Errorf("%d events exported, want the full batch of 10", n)
		}
	})
}

func TestEmitNeverWaitsForAStuckExporter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &tracetest.Recorder{Stuck: make(chan struct{})}
		var fine tracetest.Recorder
		p := trace.NewPipeline(exporters(stuck, &fine), &trace.PipelineOptions{QueueEvents: 100, BatchEvents: 10})
		began := time.Now()
		for i := range 1000 {
			p.Emit(numbered(i, i)...)
			if i%50 == 0 {
				synctest.Wait() // the other exporter keeps up, in no time
			}
		}
		if d := time.Since(began); d != 0 {
			t.Errorf("Emit waited %v", d)
		}
		if err := p.Flush(canceledAfter(t, time.Second)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush = %v, want DeadlineExceeded", err)
		}
		if n := len(fine.Events()); n != 1000 {
			t.Errorf("the other exporter got %d of 1000 events", n)
		}
		if err := p.Close(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close = %v, want DeadlineExceeded", err)
		}
		close(stuck.Stuck)
		synctest.Wait()
		s := p.Stats()[0]
		if s.Dropped != 1000-s.Exported || s.Exported != uint64(len(stuck.Events())) || s.Waiting != 0 {
			t.Errorf("stats = %+v, %d arrived", s, len(stuck.Events()))
		}
	})
}

// Flush waits for an event that an exporter is delivering, even if it is the only one.
func TestFlushWaitsForAnEventInDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &tracetest.Recorder{Stuck: make(chan struct{})}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{BatchEvents: 1})
		p.Emit(numbered(1, 1)...)
		synctest.Wait() // the exporter has the event
		if err := p.Flush(canceledAfter(t, time.Second)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush = %v with %d events delivered, want DeadlineExceeded", err, len(r.Events()))
		}
		if s := p.Stats()[0]; s.Waiting != 1 || s.Exported != 0 {
			t.Errorf("the event in delivery does not count as waiting: %+v", s)
		}
		close(r.Stuck)
		if err := p.Flush(t.Context()); err != nil || len(r.Events()) != 1 {
			t.Errorf("Flush = %v with %d events delivered", err, len(r.Events()))
		}
		mustClose(t, p)
	})
}

func canceledAfter(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestPipelineDropsOldestAndCountsExactly(t *testing.T) {
	for name, opts := range map[string]trace.PipelineOptions{
		"by number": {QueueEvents: 100, BatchEvents: 1},
		"by memory": {QueueBytes: 100 * 512, BatchEvents: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &tracetest.Recorder{Stuck: make(chan struct{})}
				p := trace.NewPipeline(exporters(r), &opts)
				p.Emit(numbered(0, 0)...)
				time.Sleep(time.Second)
				synctest.Wait() // event 0 is in delivery
				p.Emit(numbered(1, 250)...)
				if got := p.Dropped(); got != 150 {
					t.Errorf("Dropped() = %d, want 150", got)
				}
				close(r.Stuck)
				mustClose(t, p)
				if want := ids(slices.Concat(numbered(0, 0), numbered(151, 250))); !slices.Equal(ids(r.Events()), want) {
					t.Errorf("arrived: %v", ids(r.Events()))
				}
			})
		})
	}
}

func TestPipelineTakesOneEventLargerThanItsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r tracetest.Recorder
		p := trace.NewPipeline(exporters(&r), &trace.PipelineOptions{QueueBytes: 10})
		p.Emit(trace.Event{Data: redact.Lit("0123456789")})
		mustClose(t, p)
		if len(r.Events()) != 1 || p.Dropped() != 0 {
			t.Errorf("%d arrived, %d dropped", len(r.Events()), p.Dropped())
		}
	})
}

func TestPipelineCountsAndReportsFailures(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		panics bool
		failed uint64
	}{
		"all lost":         {err: errors.New("down"), failed: 10},
		"some lost":        {err: &trace.LostError{Lost: 3, Err: errors.New("down")}, failed: 3},
		"wrapped":          {err: fmt.Errorf("x: %w", &trace.LostError{Lost: 3, Err: errors.New("down")}), failed: 3},
		"more than it had": {err: &trace.LostError{Lost: 30, Err: errors.New("down")}, failed: 10},
		"panic":            {panics: true, failed: 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var reported []error
				r := &slowRecorder{panics: c.panics}
				r.Err = c.err
				p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{OnError: func(err error) { reported = append(reported, err) }})
				p.Emit(numbered(1, 10)...)
				mustClose(t, p)
				if s := p.Stats()[0]; s.Failed != c.failed || s.Exported != 10-c.failed || s.Dropped != 0 {
					t.Errorf("stats = %+v, want %d failed", s, c.failed)
				}
				var e *trace.ExportError
				if len(reported) != 1 || !errors.As(reported[0], &e) || e.Lost != int(c.failed) || e.Op != "export" || e.Exporter != "*trace_test.slowRecorder" {
					t.Errorf("reported: %v", reported)
				}
			})
		})
	}
}

func TestPipelineBoundsOneExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{took: time.Hour}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{ExportTimeout: 3 * time.Second})
		p.Emit(numbered(1, 1)...)
		began := time.Now()
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d != 3*time.Second || p.Stats()[0].Failed != 1 {
			t.Errorf("after %v: %+v", d, p.Stats())
		}
		mustClose(t, p)
	})
}

func TestPipelineWithoutExportersDoesNothing(t *testing.T) {
	p := trace.NewPipeline(nil, nil)
	p.Emit(numbered(1, 3)...)
	if err := errors.Join(p.Flush(t.Context()), p.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if p.Dropped() != 0 || len(p.Stats()) != 0 {
		t.Errorf("dropped %d, stats %v", p.Dropped(), p.Stats())
	}
}

// slowRecorder is a recorder that needs time for each export. If deaf is set, it also ignores
// its context.
type slowRecorder struct {
	tracetest.Recorder
	took   time.Duration
	deaf   bool
	panics bool
}

func (s *slowRecorder) Export(ctx context.Context, events []trace.Event) error {
	if s.panics {
		panic("boom")
	}
	done := ctx.Done()
	if s.deaf {
		done = nil
	}
	select {
	case <-time.After(s.took):
		return s.Recorder.Export(ctx, events)
	case <-done:
		return ctx.Err()
	}
}

// A pipeline gives an exporter that implements Watch the function for its counts before
// anything else.
func TestWatchersGetTheFunctionForTheCounts(t *testing.T) {
	var stats func() []trace.Stats
	w := &watching{Recorder: &tracetest.Recorder{}, told: func(f func() []trace.Stats) { stats = f }}
	p := trace.NewPipeline([]trace.Exporter{w, &discard{}}, nil)
	if stats == nil {
		t.Fatal("the failure was not reported")
	}
	p.Emit(tracetest.Sample(time.Now())...)
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if s := stats(); len(s) != 2 || s[0].Exported == 0 || s[0].Exported != s[0].Emitted || s[1].Exported != s[0].Emitted {
		t.Errorf("%+v", s)
	}
}

type watching struct {
	*tracetest.Recorder
	told func(func() []trace.Stats)
}

func (w *watching) Watch(stats func() []trace.Stats) { w.told(stats) }
