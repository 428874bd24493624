package trace_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

func TestFlushWaitsForEarlierEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{took: time.Second}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{Linger: time.Hour, BatchEvents: 10})
		p.Emit(numbered(1, 25)...)
		began := time.Now()
		if err := p.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, d := len(r.Events()), time.Since(began); got != 25 || d != 3*time.Second {
			t.Errorf("Flush returned after %v with %d events, want 3s with 25", d, got)
		}
		if err := p.Flush(t.Context()); err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("a Flush of nothing = %v, at %v", err, time.Since(began))
		}
		mustClose(t, p)
	})
}

// While events in delivery block, later events that are dropped must not count
// as delivered.
func TestFlushCountsDroppedEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{took: time.Minute}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{QueueEvents: 5, BatchEvents: 5, ExportTimeout: time.Hour, CloseTimeout: time.Hour})
		p.Emit(numbered(1, 5)...)
		synctest.Wait() // in delivery
		flushed := make(chan time.Duration)
		began := time.Now()
		go func() {
			if err := p.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			flushed <- time.Since(began)
		}()
		synctest.Wait()
		p.Emit(numbered(6, 100)...)
		if d := <-flushed; d != time.Minute {
			t.Errorf("Flush returned after %v, want when the batch is through, 1m", d)
		}
		mustClose(t, p)
	})
}

// Several callers can wait for the same events, such as a step and the end of the program.
func TestEveryFlushReturnsWhenItsEventsAreDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := trace.NewPipeline(exporters(&slowRecorder{took: time.Minute}), &trace.PipelineOptions{ExportTimeout: time.Hour, CloseTimeout: time.Hour})
		p.Emit(numbered(1, 5)...)
		began := time.Now()
		var flushes sync.WaitGroup
		for range 3 {
			flushes.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
				defer cancel()
				if err := p.Flush(ctx); err != nil || time.Since(began) != time.Minute {
					t.Errorf("%v after %v, want when the events are delivered, after 1m", err, time.Since(began))
				}
			})
		}
		flushes.Wait()
		mustClose(t, p)
	})
}

func TestFlushGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{took: time.Minute}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{CloseTimeout: time.Hour, ExportTimeout: time.Hour})
		p.Emit(numbered(1, 1)...)
		began := time.Now()
		err := p.Flush(canceledAfter(t, 2*time.Second))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Errorf("Flush = %v after %v", err, time.Since(began))
		}
		mustClose(t, p)
	})
}

func TestCloseMeetsItsDeadlineAndCountsTheRest(t *testing.T) {
	for _, c := range []struct {
		name    string
		ctx     time.Duration
		opt     time.Duration
		want    time.Duration
		polite  bool // the exporter honors its context
		dropped uint64
	}{
		{"context", time.Second, time.Hour, time.Second, true, 20},
		{"option", time.Hour, 3 * time.Second, 3 * time.Second, true, 20},
		{"default", time.Hour, 0, 5 * time.Second, true, 20},
		{"impolite", time.Second, time.Hour, 1100 * time.Millisecond, false, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &slowRecorder{took: time.Minute, deaf: !c.polite}
				p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{BatchEvents: 10, CloseTimeout: c.opt, ExportTimeout: time.Hour})
				p.Emit(numbered(1, 30)...)
				synctest.Wait()
				began := time.Now()
				err := p.Close(canceledAfter(t, c.ctx))
				if d := time.Since(began); d != c.want || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Close = %v after %v, want DeadlineExceeded after %v", err, d, c.want)
				}
				if got := p.Dropped(); got != c.dropped {
					t.Errorf("Dropped() = %d, want %d", got, c.dropped)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if s := p.Stats()[0]; s.Emitted != s.Exported+s.Failed+s.Dropped || s.Waiting != 0 {
					t.Errorf("stats = %+v", s)
				}
				if r.Shutdowns() != 1 {
					t.Errorf("shut down %d times", r.Shutdowns())
				}
			})
		})
	}
}

func TestCloseIsIdempotentAndEndsEmitting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r tracetest.Recorder
		p := trace.NewPipeline(exporters(&r), nil)
		p.Emit(numbered(1, 3)...)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { mustClose(t, p) })
		}
		all.Wait()
		mustClose(t, p)
		p.Emit(numbered(4, 9)...)
		if err := p.Flush(t.Context()); err != nil {
			t.Errorf("Flush after Close: %v", err)
		}
		if len(r.Events()) != 3 || r.Shutdowns() != 1 || p.Stats()[0].Emitted != 3 {
			t.Errorf("%d events, %d shutdowns, %+v", len(r.Events()), r.Shutdowns(), p.Stats())
		}
	})
}

func TestShutdownGetsTheDeadlineOfClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &lastWords{}
		p := trace.NewPipeline(exporters(r), nil)
		ctx := canceledAfter(t, 3*time.Second)
		if err := p.Close(ctx); err != nil {
			t.Fatal(err)
		}
		if want, _ := ctx.Deadline(); !r.deadline.Equal(want) {
			t.Errorf("deadline = %v, want %v", r.deadline, want)
		}
	})
}

// lastWords records the remaining time of Shutdown.
type lastWords struct {
	tracetest.Recorder
	deadline time.Time
}

func (l *lastWords) Shutdown(ctx context.Context) error {
	l.deadline, _ = ctx.Deadline()
	return l.Recorder.Shutdown(ctx)
}

// A second Close that is in a hurry must not take time from the first.
func TestSecondCloseTakesNoTimeFromTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{took: 2 * time.Second}
		p := trace.NewPipeline(exporters(r), nil)
		p.Emit(numbered(1, 3)...)
		first := make(chan error)
		go func() { first <- p.Close(context.Background()) }()
		synctest.Wait()
		if err := p.Close(canceledAfter(t, time.Millisecond)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("second Close = %v, want DeadlineExceeded", err)
		}
		if err := <-first; err != nil || len(r.Events()) != 3 {
			t.Errorf("first Close = %v, %d events arrived", err, len(r.Events()))
		}
	})
}

// An exporter that panics when it is shut down fails Close, and nothing else.
func TestShutdownThatPanicsIsAnError(t *testing.T) {
	var told error
	r := &tracetest.Recorder{}
	p := trace.NewPipeline(append(exporters(r), &panicsAtTheEnd{}), &trace.PipelineOptions{OnError: func(err error) { told = err }})
	p.Emit(numbered(1, 3)...)
	if err := p.Close(t.Context()); err == nil || told == nil {
		t.Errorf("Close = %v, reported %v", err, told)
	}
	if len(r.Events()) != 3 || r.Shutdowns() != 1 {
		t.Errorf("the other exporter has %d events and %d shutdowns", len(r.Events()), r.Shutdowns())
	}
}

type panicsAtTheEnd struct{ tracetest.Recorder }

func (*panicsAtTheEnd) Shutdown(context.Context) error { panic("boom") }
