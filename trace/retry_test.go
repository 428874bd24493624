package trace_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

var errRefused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

// awayRecorder is a recorder that can't be reached until a time. After that, if part is set, it
// takes at most part events of each batch, and asks for the other events again.
type awayRecorder struct {
	tracetest.Recorder
	back time.Time
	part int
}

func (a *awayRecorder) Export(ctx context.Context, events []trace.Event) error {
	if time.Now().Before(a.back) {
		return fmt.Errorf("export: %w", &trace.RetryError{Err: errRefused})
	}
	if a.part > 0 && len(events) > a.part {
		_ = a.Recorder.Export(ctx, events[:a.part])
		return &trace.RetryError{Done: a.part, Err: errRefused}
	}
	return a.Recorder.Export(ctx, events)
}

// errorLog records the errors that OnError received, and when.
type errorLog struct {
	mu   sync.Mutex
	at   []time.Duration
	errs []*trace.ExportError
}

func (s *errorLog) handler() func(error) {
	began := time.Now()
	return func(err error) {
		var e *trace.ExportError
		errors.As(err, &e)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at, s.errs = append(s.at, time.Since(began)), append(s.errs, e)
	}
}

func TestShortOutageLosesNothing(t *testing.T) {
	for _, part := range []int{0, 1, 7} {
		synctest.Test(t, func(t *testing.T) {
			r := &awayRecorder{back: time.Now().Add(time.Minute), part: part}
			p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{BatchEvents: 16})
			want := numbered(1, 400)
			for chunk := range slices.Chunk(want, 10) {
				p.Emit(chunk...)
				time.Sleep(time.Second)
			}
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if got := ids(r.Events()); !slices.Equal(got, ids(want)) {
				t.Errorf("part %d: %d events arrived, or twice, or in another order", part, len(got))
			}
			if s := p.Stats()[0]; s.Exported != 400 || s.Lost() != 0 || s.Waiting != 0 {
				t.Errorf("part %d: %v", part, s)
			}
			mustClose(t, p)
		})
	}
}

func TestLongOutageDropsTheOldestAndCountsExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &awayRecorder{back: time.Now().Add(time.Hour)}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{BatchEvents: 16, QueueEvents: 100})
		for i := range 500 {
			p.Emit(numbered(i, i)...)
			time.Sleep(time.Second)
			synctest.Wait()
			if s := p.Stats()[0]; s.Emitted != s.Exported+s.Lost()+uint64(s.Waiting) {
				t.Fatalf("after %d: %v does not add up", i, s)
			}
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got, want := ids(r.Events()), ids(numbered(400, 499)); !slices.Equal(got, want) {
			t.Errorf("arrived: %v, want the newest hundred", got)
		}
		if s := p.Stats()[0]; s.Dropped != 400 || s.Failed != 0 {
			t.Errorf("%v", s)
		}
		mustClose(t, p)
	})
}

// New events during the delivery of a batch take the room of its oldest events if it returns to
// the queue.
func TestBatchReturnedToAFullQueueIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{took: time.Minute}
		r.Err = &trace.RetryError{Err: errRefused}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{BatchEvents: 16, QueueEvents: 100, ExportTimeout: time.Hour})
		p.Emit(numbered(1, 16)...)
		synctest.Wait() // the first events are in delivery
		p.Emit(numbered(17, 111)...)
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := p.Stats()[0]; s.Dropped != 11 || s.Waiting != 100 || s.Emitted != s.Exported+s.Lost()+uint64(s.Waiting) {
			t.Errorf("%v does not add up, or is not 11 dropped of 111 with room for 100", s)
		}
		_ = p.Close(t.Context()) // the exporter is slower than that
	})
}

func TestFlushReportsWaitingEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &awayRecorder{back: time.Now().Add(time.Minute)}
		p := trace.NewPipeline(exporters(r), nil)
		p.Emit(numbered(1, 3)...)
		time.Sleep(20 * time.Second) // the queue waits between its tries
		began := time.Now()
		var e *trace.ExportError
		if err := p.Flush(t.Context()); !errors.As(err, &e) || e.Op != "flush" || e.Waiting != 3 || !errors.Is(err, errRefused) {
			t.Errorf("Flush = %v, want three events that wait", err)
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("Flush waited %v for a missing server", d)
		}
		time.Sleep(time.Minute)
		if err := p.Flush(t.Context()); err != nil || len(r.Events()) != 3 {
			t.Errorf("Flush = %v with %d events arrived, want 3", err, len(r.Events()))
		}
		mustClose(t, p)
	})
}

func TestCloseInAnOutageTriesOnceAndReportsTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told errorLog
		r := &awayRecorder{back: time.Now().Add(time.Hour)}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{BatchEvents: 10, OnError: told.handler()})
		p.Emit(numbered(1, 35)...)
		time.Sleep(time.Second)
		began := time.Now()
		mustClose(t, p)
		if d := time.Since(began); d > time.Second {
			t.Errorf("Close waited %v for a missing server", d)
		}
		if s := p.Stats()[0]; s.Lost() != 35 || s.Waiting != 0 {
			t.Errorf("%v", s)
		}
		lost := 0
		for _, e := range told.errs {
			lost += e.Lost
		}
		if last := told.errs[len(told.errs)-1]; lost != 35 || last.Op != "close" {
			t.Errorf("reported: %v", told.errs)
		}
	})
}

// If an exporter reports losses in the part that it has handled and the rest is not
// offered again, both the losses and the rest count as lost.
func TestCloseCountsWhatABatchLostBeforeItCameBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{took: time.Second}
		r.Err = &trace.RetryError{Done: 4, Lost: 3, Err: errRefused}
		p := trace.NewPipeline(exporters(r), nil)
		p.Emit(numbered(1, 10)...)
		_ = p.Close(t.Context())
		if s := p.Stats()[0]; s.Exported != 1 || s.Failed != 9 || s.Waiting != 0 {
			t.Errorf("%v, %d failed, want 1 of 10 delivered", s, s.Failed)
		}
	})
}

func TestFailuresAreReportedAtOnceThenEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told errorLog
		r := &slowRecorder{}
		r.Err = errors.New("answer 401")
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{OnError: told.handler(), Linger: time.Millisecond})
		for i := range 95 { // one failure every 200 ms, 19 s long
			p.Emit(numbered(i, i)...)
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if want := []time.Duration{0, 10 * time.Second, 20 * time.Second}; len(told.at) != 3 ||
			told.at[0] > 10*time.Millisecond || told.at[1]-want[1] > time.Second || told.at[2]-want[2] > time.Second {
			t.Errorf("reported at %v, want about %v", told.at, want)
		}
		lost := 0
		for _, e := range told.errs {
			lost += e.Lost
		}
		if lost != 95 {
			t.Errorf("reported %d lost events, want 95: %v", lost, told.errs)
		}
		mustClose(t, p)
	})
}

// The error of a hanging exporter includes the events that its full queue dropped in
// the meantime.
func TestDroppedEventsAreReportedWithTheFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told errorLog
		r := &slowRecorder{took: time.Hour}
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{OnError: told.handler(), QueueEvents: 10, BatchEvents: 5, ExportTimeout: 3 * time.Second})
		p.Emit(numbered(1, 5)...)
		synctest.Wait() // in delivery
		p.Emit(numbered(6, 30)...)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if len(told.errs) != 1 || told.errs[0].Lost != 5+15 || told.errs[0].Dropped != 15 || !errors.Is(told.errs[0], context.DeadlineExceeded) {
			t.Errorf("reported: %v, want one of 20 lost events", told.errs)
		}
		_ = p.Close(t.Context())
	})
}

func TestAPanicOfAHandlerStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &slowRecorder{}
		r.Err = errors.New("down")
		p := trace.NewPipeline(exporters(r), &trace.PipelineOptions{OnError: func(error) { panic("boom") }})
		p.Emit(numbered(1, 5)...)
		mustClose(t, p)
		if s := p.Stats()[0]; s.Failed != 5 {
			t.Errorf("%v", s)
		}
	})
}

func TestNotSent(t *testing.T) {
	for err, want := range map[error]bool{
		errRefused:                                         true,
		fmt.Errorf("post: %w", errRefused):                 true,
		&net.DNSError{Err: "no such host"}:                 true,
		&net.OpError{Op: "read", Err: errors.New("reset")}: false,
		errors.New("answer 503"):                           false,
		context.DeadlineExceeded:                           false,
	} {
		if got := trace.NotSent(err); got != want {
			t.Errorf("NotSent(%v) = %v", err, got)
		}
	}
}
