package otel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/metrics"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

// A receiver accepts the events of either exporter, has a fault, and counts the spans
// that it has acknowledged.
type receiver struct {
	*httptest.Server
	status int           // of each answer; 0 = no answer, the connection is reset
	after  int           // number of batches that are accepted before the fault begins
	delay  time.Duration // before each answer
	hang   bool          // the server never answers

	mu      sync.Mutex
	batches int
	taken   int
}

// start runs the receiver until the end of a test, and returns its URL.
func (r *receiver) start(t testing.TB) string {
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r.URL
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	n, answer := read(q.URL.Path, body)
	r.mu.Lock()
	r.batches++
	healthy := r.batches <= r.after
	r.mu.Unlock()
	switch {
	case healthy || r.status == http.StatusOK && !r.hang:
		time.Sleep(r.delay)
		r.mu.Lock()
		r.taken += n
		r.mu.Unlock()
		_, _ = w.Write(answer)
	case r.hang:
		<-q.Context().Done()
	case r.status == 0:
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	default:
		w.WriteHeader(r.status)
	}
}

// read counts the spans of a body, and returns the answer to it.
func read(path string, body []byte) (spans int, answer []byte) {
	var batch struct{ Batch []struct{ Type string } }
	if strings.HasSuffix(path, "/ingest") {
		_ = json.NewDecoder(bytes.NewReader(body)).Decode(&batch)
		for _, e := range batch.Batch {
			if e.Type == "span" {
				spans++
			}
		}
		return spans, fmt.Appendf(nil, `{"success":true,"count":%d}`, len(batch.Batch))
	}
	var req collectorpb.ExportTraceServiceRequest
	_ = proto.Unmarshal(body, &req)
	for _, rs := range req.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			spans += len(ss.Spans)
		}
	}
	return spans, nil
}

// faults are the kinds of failure of a receiver, and whether it accepts anything
// nevertheless.
var faults = []struct {
	name    string
	fault   *receiver // nil: nothing listens on the port
	restart bool      // a receiver starts later on the same port
	all     bool      // everything arrives
	some    bool      // the events before the fault arrive
}{
	{name: "dead"},
	{name: "refused", fault: &receiver{status: http.StatusBadRequest}},
	{name: "401", fault: &receiver{status: http.StatusUnauthorized}},
	{name: "413", fault: &receiver{status: http.StatusRequestEntityTooLarge}},
	{name: "429", fault: &receiver{status: http.StatusTooManyRequests}},
	{name: "500", fault: &receiver{status: http.StatusInternalServerError}},
	{name: "hang", fault: &receiver{hang: true}},
	{name: "slow", fault: &receiver{status: http.StatusOK, delay: 20 * time.Millisecond}, all: true},
	{name: "gone in the middle", fault: &receiver{after: 2}, some: true},
	{name: "restarted", fault: &receiver{status: http.StatusOK}, restart: true, all: true},
}

// errorLog collects the errors of exporters.
type errorLog struct {
	mu   sync.Mutex
	lost int
	errs []*trace.ExportError
}

func (l *errorLog) hear(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var e *trace.ExportError
	if errors.As(err, &e) {
		l.lost += e.Lost
		l.errs = append(l.errs, e)
	}
}

// With every fault of a receiver, emitted = delivered + lost + waiting, the receiver
// has taken exactly the delivered spans, and every loss is reported with the exporter's
// name.
func TestEveryFaultIsCountedExactlyAndReported(t *testing.T) {
	for _, f := range faults {
		for _, protocol := range []string{"ariadne", "otlp"} {
			t.Run(f.name+"/"+protocol, func(t *testing.T) {
				t.Parallel()
				listener := listenApart(t)
				r := &receiver{}
				if f.fault != nil {
					r = &receiver{status: f.fault.status, after: f.fault.after, delay: f.fault.delay, hang: f.fault.hang}
				}
				r.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: r}}
				if url := "http://" + listener.Addr().String(); f.fault == nil || f.restart {
					listener.Close()
					r.URL = url
				} else {
					r.Start()
					t.Cleanup(r.Close)
				}
				check(t, protocol, r, f.restart, f.all, f.some)
			})
		}
	}
}

// addresses counts the addresses of listenApart.
var addresses atomic.Int32

// listenApart listens on a loopback address of its own if the system has more than one. So
// nobody else gets its port while it is closed.
func listenApart(t *testing.T) net.Listener {
	t.Helper()
	own := net.IPv4(127, byte(1+addresses.Add(1)%100), byte(os.Getpid()>>8), byte(os.Getpid()))
	if l, err := net.Listen("tcp", net.JoinHostPort(own.String(), "0")); err == nil {
		return l
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func exporterTo(t *testing.T, protocol, url string, patience time.Duration) trace.Exporter {
	t.Helper()
	if protocol == "ariadne" {
		return ariadne.New(url, &ariadne.Options{Timeout: patience, ErrorLog: io.Discard})
	}
	e, err := otel.NewOTLP(t.Context(), url, &otel.OTLPOptions{Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func check(t *testing.T, protocol string, r *receiver, restart, all, some bool) {
	var l errorLog
	patience := 200 * time.Millisecond
	if all || some {
		patience = 2 * time.Second // on a busy machine, too
	}
	counts := metrics.New(nil) // a second exporter, whose counts must agree
	p := trace.NewPipeline([]trace.Exporter{exporterTo(t, protocol, r.URL, patience), counts.Exporter()}, &trace.PipelineOptions{Linger: time.Millisecond, OnError: l.hear})
	emitted := 0
	for range 4 {
		events := tracetest.Sample(time.Now())
		emitted += len(events)
		p.Emit(events...)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_ = p.Flush(ctx) // a separate batch
		cancel()
		if s := p.Stats()[0]; s.Emitted != uint64(emitted) || s.Exported+s.Lost()+uint64(s.Waiting) != s.Emitted {
			t.Errorf("%d emitted: %s", emitted, s)
		}
	}
	if restart {
		if s := p.Stats()[0]; s.Lost() != 0 || s.Waiting != emitted {
			t.Errorf("an outage has lost something: %s", s)
		}
		again, err := net.Listen("tcp", strings.TrimPrefix(r.URL, "http://"))
		if err != nil {
			t.Skip("another process uses the port now")
		}
		r.Server = &httptest.Server{Listener: again, Config: &http.Server{Handler: r}}
		r.Start()
		t.Cleanup(r.Close)
	}
	_ = p.Close(context.Background())
	s := p.Stats()[0]
	r.mu.Lock()
	defer r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case s.Emitted != uint64(emitted) || s.Exported+s.Lost() != s.Emitted || s.Waiting != 0:
		t.Errorf("%d emitted: %s", emitted, s)
	case int(s.Exported) != r.taken:
		t.Errorf("%d spans were taken: %s", r.taken, s)
	case all && s.Lost() > 0, some && (s.Lost() == 0 || s.Exported == 0), !all && !some && s.Exported > 0:
		t.Errorf("%s", s)
	case l.lost != int(s.Lost()):
		t.Errorf("reported %d: %s", l.lost, s)
	}
	for name, want := range map[string]uint64{"emitted": s.Emitted, "delivered": s.Exported, "lost": s.Lost(), "waiting": 0} {
		if got := labeled(counts, "compact.events."+name, protocol); got != float64(want) {
			t.Errorf("compact.events.%s of %s is %v, want %d", name, protocol, got, want)
		}
	}
	if n := total(counts, "compact.calls"); n != 4 || labeled(counts, "compact.events.lost", "metrics") != 0 {
		t.Errorf("%v of 4 calls are counted", n)
	}
	for _, e := range l.errs {
		if e.Exporter != protocol || e.Err == nil {
			t.Errorf("reported %v", e)
		}
	}
}
