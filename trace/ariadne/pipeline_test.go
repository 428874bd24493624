package ariadne_test

import (
	"context"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
	"github.com/agentcompact/compact/trace/tracetest"
)

func pipeline(t testing.TB, url string) *trace.Pipeline {
	t.Helper()
	p := trace.NewPipeline([]trace.Exporter{ariadne.New(url, &ariadne.Options{ErrorLog: io.Discard})}, nil)
	t.Cleanup(func() { _ = p.Close(context.Background()) }) // each test counts the rest itself
	return p
}

func TestEventsAreSentWithoutFlush(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	p := pipeline(t, srv.URL)
	for i := range 3 { // each before the next is emitted
		p.Emit(tracetest.Sample(start.Add(time.Duration(i) * time.Hour))...)
		srv.WaitSpans(7*(i+1), 30*time.Second)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// BenchmarkOnTheWire measures the time from an event to its arrival at a server: the
// median and the maximum, in milliseconds.
func BenchmarkOnTheWire(b *testing.B) {
	srv := ariadnetest.NewServer(b)
	p := pipeline(b, srv.URL)
	emit := func(i int) time.Duration {
		began := time.Now()
		p.Emit(tracetest.Sample(start.Add(time.Duration(i) * time.Hour))...)
		srv.WaitSpans(7*(i+1), 30*time.Second)
		return time.Since(began)
	}
	emit(0) // connects
	var took []time.Duration
	for b.Loop() {
		took = append(took, emit(len(took)+1))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}

// With every behavior of Ariadne, Close ends and every event is counted.
func TestFaultsOfAriadneNeverReachTheCaller(t *testing.T) {
	for mode := ariadnetest.Dead; mode <= ariadnetest.Redirecting; mode++ {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			srv := ariadnetest.NewServer(t)
			srv.SetMode(mode)
			p := pipeline(t, srv.URL)
			const calls = 201
			for i := range calls { // the tests and benchmarks of trace check that no call waits
				p.Emit(tracetest.Sample(start.Add(time.Duration(i) * time.Minute))...)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_ = p.Close(ctx) // Close may or may not have had the time
			s := p.Stats()[0]
			if s.Exported != 0 || s.Emitted != 7*calls || s.Failed+s.Dropped+uint64(s.Waiting) != s.Emitted {
				t.Errorf("stats = %+v", s)
			}
		})
	}
}

// soak returns the duration of the load tests: a moment, or a minute with
// COMPACT_SOAK=1. COMPACT_LOAD=10s overrides both.
func soak() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("COMPACT_LOAD")); err == nil {
		return d
	}
	if os.Getenv("COMPACT_SOAK") != "" {
		return time.Minute
	}
	if testing.Short() {
		return 300 * time.Millisecond
	}
	return time.Second
}

// unshared gives each event data of its own, as events of real calls have: the
// samples are constants, which cost no memory.
func unshared(t testing.TB, events []trace.Event) []trace.Event {
	for i := range events {
		events[i].Data = plain(t, strings.Clone(events[i].Data.String()))
	}
	return events
}

// emitSteadily emits perSecond events per second, in calls of 7 events, and
// returns their number. Calls are a minute apart in their own time, each in its
// own trace.
func emitSteadily(t testing.TB, p *trace.Pipeline, d time.Duration) uint64 {
	var n uint64
	began := time.Now()
	for i := 0; time.Since(began) < d; i++ {
		p.Emit(unshared(t, tracetest.Sample(start.Add(time.Duration(i)*time.Minute)))...)
		n += 7
		if ahead := time.Duration(n)*time.Second/perSecond - time.Since(began); ahead > time.Millisecond {
			time.Sleep(ahead)
		}
	}
	return n
}

func TestSoakLiveServerLosesNothing(t *testing.T) {
	srv := ariadnetest.NewServer(t)
	srv.Discard()
	p := pipeline(t, srv.URL)
	began := time.Now()
	n := emitSteadily(t, p, soak())
	rate := float64(n) / time.Since(began).Seconds()
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := p.Stats()[0]
	if s.Emitted != n || s.Exported != n || srv.Counts().Spans != int(n) {
		t.Fatalf("emitted %d at %.0f/s: %+v; arrived %+v", n, rate, s, srv.Counts())
	}
	t.Logf("%d events at %.0f/s in %d posts, none lost", n, rate, srv.Counts().Posts)
}

func TestSoakDeadServerBoundsMemoryAndCountsExactly(t *testing.T) {
	for name, mode := range map[string]ariadnetest.Mode{"refuses connections": ariadnetest.Live, "hangs": ariadnetest.Slow} {
		t.Run(name, func(t *testing.T) {
			url := tracetest.DeadURL(t)
			if mode != ariadnetest.Live {
				srv := ariadnetest.NewServer(t)
				srv.Discard()
				srv.SetMode(mode)
				url = srv.URL
			}
			p := pipeline(t, url)
			before := heap()
			n := emitSteadily(t, p, soak())
			held := heap() - before
			if held > 20<<20 {
				t.Errorf("%d bytes are held", held)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_ = p.Close(ctx) // a hanging server leaves no time
			s := p.Stats()[0]
			if s.Emitted != n || s.Exported != 0 || s.Failed+s.Dropped != n || s.Waiting != 0 {
				t.Errorf("emitted %d: %+v", n, s)
			}
			t.Logf("%d events, %.1f MB held, %+v", n, float64(held)/(1<<20), s)
		})
	}
}

// heap returns the bytes of live objects.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
