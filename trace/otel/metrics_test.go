package otel_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

// A meter takes metrics, and keeps the last of each.
type meter struct {
	*httptest.Server
	mu      sync.Mutex
	status  int
	hang    bool
	after   int // number of requests that are accepted before the fault begins
	got     map[string]*metricspb.Metric
	service string
	header  http.Header
	path    string
	taken   int
	asked   int
}

func (r *meter) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.asked++
	status, hang := r.status, r.hang
	if r.asked <= r.after {
		status, hang = http.StatusOK, false
	}
	r.mu.Unlock()
	if hang {
		<-q.Context().Done()
		return
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
		return
	}
	var req collectorpb.ExportMetricsServiceRequest
	if err := proto.Unmarshal(body, &req); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken, r.header, r.path, r.got = r.taken+1, q.Header, q.URL.Path, map[string]*metricspb.Metric{}
	for _, rm := range req.ResourceMetrics {
		for _, a := range rm.Resource.GetAttributes() {
			if a.Key == "service.name" {
				r.service = a.Value.GetStringValue()
			}
		}
		for _, sm := range rm.ScopeMetrics {
			for _, m := range sm.Metrics {
				r.got[m.Name] = m
			}
		}
	}
}

// sum adds up a metric over its labels.
func (r *meter) sum(name string) (n float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.got[name]
	for _, p := range m.GetSum().GetDataPoints() {
		n += p.GetAsDouble()
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		n += float64(p.Count)
	}
	return n
}

func (r *meter) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func newMeter(t *testing.T, m *meter) *meter {
	t.Helper()
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func metricsTo(t *testing.T, url string, o otel.MetricsOptions) *otel.MetricsExporter {
	t.Helper()
	e, err := otel.NewOTLPMetrics(t.Context(), url, nil, &o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestMetricsExporterKeepsItsPromises(t *testing.T) {
	r := newMeter(t, &meter{status: http.StatusOK})
	tracetest.Run(t, func(testing.TB) trace.Exporter { return metricsTo(t, r.URL, otel.MetricsOptions{}) })
}

// At Shutdown all counts arrive, without waiting for an interval: sums and histograms,
// with units and with the configured name and headers.
func TestMetricsArriveAtShutdown(t *testing.T) {
	r := newMeter(t, &meter{status: http.StatusOK})
	e := metricsTo(t, r.URL, otel.MetricsOptions{ServiceName: "agent", Headers: map[string]string{"X-Tenant": "seven"}, Interval: time.Hour})
	p := trace.NewPipeline([]trace.Exporter{e}, nil)
	for range 20 {
		p.Emit(tracetest.Sample(time.Now())...)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if r.taken != 1 || r.path != "/v1/metrics" || r.header.Get("X-Tenant") != "seven" || r.service != "agent" {
		t.Errorf("%d requests, to %s, of %s", r.taken, r.path, r.service)
	}
	if n := r.sum("compact.calls"); n != 20 {
		t.Errorf("%v calls arrived", n)
	}
	if n := r.sum("compact.preflight.duration"); n != 20 {
		t.Errorf("the durations of %v calls arrived", n)
	}
	usage := r.got["compact.preflight.duration"]
	if usage.GetUnit() != "s" || usage.GetDescription() == "" || usage.GetHistogram().GetAggregationTemporality() != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE ||
		len(usage.GetHistogram().GetDataPoints()[0].BucketCounts) != len(usage.GetHistogram().GetDataPoints()[0].ExplicitBounds)+1 {
		t.Errorf("%v", usage)
	}
	if !r.got["compact.calls"].GetSum().GetIsMonotonic() || r.got["compact.events.waiting"].GetGauge() == nil {
		t.Error("compact.calls must be a monotonic sum, and compact.events.waiting a gauge")
	}
}

// The metrics are sent at intervals while the agent runs.
func TestMetricsAreSentPeriodically(t *testing.T) {
	r := newMeter(t, &meter{status: http.StatusOK})
	p := trace.NewPipeline([]trace.Exporter{metricsTo(t, r.URL, otel.MetricsOptions{Interval: 5 * time.Millisecond})}, nil)
	p.Emit(tracetest.Sample(time.Now())...)
	for deadline := time.Now().Add(time.Minute); r.sum("compact.calls") != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no metrics arrived within a minute")
		}
	}
	if err := p.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// meterFaults are the kinds of failure of a receiver of metrics.
var meterFaults = []struct {
	name    string
	fault   meter
	dead    bool // nothing listens on the port
	restart bool // a receiver starts later on the same port
	heals   bool // the last request arrives
}{
	{name: "dead", dead: true},
	{name: "refused", fault: meter{status: http.StatusBadRequest}},
	{name: "401", fault: meter{status: http.StatusUnauthorized}},
	{name: "413", fault: meter{status: http.StatusRequestEntityTooLarge}},
	{name: "429", fault: meter{status: http.StatusTooManyRequests}},
	{name: "500", fault: meter{status: http.StatusInternalServerError}},
	{name: "hang", fault: meter{hang: true}},
	{name: "slow", fault: meter{status: http.StatusOK}, heals: true},
	{name: "gone in the middle", fault: meter{status: http.StatusServiceUnavailable, after: 1}},
	{name: "restarted", fault: meter{status: http.StatusOK}, dead: true, restart: true, heals: true},
}

// With every fault of a receiver of metrics, each event is counted exactly once; a
// failure is reported with the exporter's name; and the last request that arrives has
// the sums of all emitted events.
func TestEveryFaultOfAReceiverOfMetrics(t *testing.T) {
	for i := range meterFaults {
		f := &meterFaults[i]
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			listener := listenApart(t)
			url := "http://" + listener.Addr().String()
			r := &meter{status: f.fault.status, hang: f.fault.hang, after: f.fault.after}
			serve := func(l net.Listener) {
				r.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: r}}
				r.Start()
				t.Cleanup(r.Close)
			}
			if f.dead {
				listener.Close()
			} else {
				serve(listener)
			}
			patience := 100 * time.Millisecond
			if f.heals {
				patience = 5 * time.Second // on a busy machine, too
			}
			e := metricsTo(t, url, otel.MetricsOptions{Timeout: patience, Interval: 10 * time.Millisecond})
			var heard errorLog
			p := trace.NewPipeline([]trace.Exporter{e}, &trace.PipelineOptions{Linger: time.Millisecond, OnError: heard.hear})
			emitted := 0
			for range 4 {
				events := tracetest.Sample(time.Now())
				emitted += len(events)
				p.Emit(events...)
				if err := p.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			for deadline := time.Now().Add(time.Minute); r.requests() < f.fault.after && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			}
			if f.restart {
				again, err := net.Listen("tcp", strings.TrimPrefix(url, "http://"))
				if err != nil {
					t.Skip("the port is another's by now")
				}
				serve(again)
			}
			closed := p.Close(context.Background())
			s := p.Stats()[0]
			if s.Exporter != "otlp-metrics" || int(s.Emitted) != emitted || s.Exported != s.Emitted || s.Lost() != 0 || s.Waiting != 0 {
				t.Errorf("%d emitted: %+v", emitted, s)
			}
			if n := total(e.Counts(), "compact.calls"); n != 4 {
				t.Errorf("%v of 4 calls are counted", n)
			}
			switch {
			case f.heals && (r.sum("compact.calls") != 4 || closed != nil):
				t.Errorf("%v of 4 calls arrived; %v", r.sum("compact.calls"), closed)
			case !f.heals && (closed == nil || len(heard.errs) == 0):
				t.Errorf("nothing was reported: %v", closed)
			}
			for _, told := range heard.errs {
				if told.Exporter != "otlp-metrics" || told.Lost != 0 || told.Err == nil {
					t.Errorf("reported %v", told)
				}
			}
		})
	}
}

// labeled returns the number of a metric for one value of its only label.
func labeled(m *metrics.Metrics, name, value string) float64 {
	for _, f := range m.Snapshot() {
		for _, p := range f.Points {
			if f.Name == name && p.Values[0] == value {
				return p.Value
			}
		}
	}
	return -1
}

func total(m *metrics.Metrics, name string) (n float64) {
	for _, f := range m.Snapshot() {
		for _, p := range f.Points {
			if f.Name == name {
				n += p.Value
			}
		}
	}
	return n
}

// While an agent runs, the next event reports that a request to the collector failed. It
// reports each failure once.
func TestTheNextEventReportsAFailedRequest(t *testing.T) {
	r := newMeter(t, &meter{status: http.StatusUnauthorized})
	e := metricsTo(t, r.URL, otel.MetricsOptions{Interval: time.Millisecond})
	e.Watch(func() []trace.Stats { return nil })
	defer func() {
		r.mu.Lock()
		r.hang, r.status = false, http.StatusOK
		r.mu.Unlock()
		_ = e.Shutdown(context.Background())
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		var lost *trace.LostError
		if err := e.Export(t.Context(), tracetest.Sample(time.Now())); errors.As(err, &lost) && lost.Lost == 0 && strings.Contains(fmt.Sprint(err), "401") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the failure is not reported")
		}
	}
	r.mu.Lock()
	r.hang = true // no request fails from here on, except one that was answered already
	r.mu.Unlock()
	silent := false
	for range 3 {
		silent = silent || e.Export(t.Context(), tracetest.Sample(time.Now())) == nil
	}
	if !silent {
		t.Error("one failure is reported three times")
	}
}

// Another reader, for example of a program with its own MeterProvider, gets the same
// numbers.
func TestProducerGivesTheCountsToAnyReader(t *testing.T) {
	counts := metrics.New(nil)
	if err := counts.Exporter().Export(t.Context(), tracetest.Sample(time.Now())); err != nil {
		t.Fatal(err)
	}
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(otel.Producer(counts)))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	defer func() { _ = provider.Shutdown(context.Background()) }()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.ScopeMetrics) != 1 || got.ScopeMetrics[0].Scope.SchemaURL == "" || len(got.ScopeMetrics[0].Metrics) < 10 {
		t.Fatalf("%+v", got.ScopeMetrics)
	}
	sums := map[string]float64{}
	for _, m := range got.ScopeMetrics[0].Metrics {
		var since time.Time // a sum covers the time since the counts began
		switch d := m.Data.(type) {
		case metricdata.Histogram[float64]:
			sums[m.Name], since = d.DataPoints[0].Sum, d.DataPoints[0].StartTime
		case metricdata.Sum[float64]:
			since = d.DataPoints[0].StartTime
		default:
			continue
		}
		if !since.Equal(counts.Began()) {
			t.Errorf("%s counts since %v, want %v", m.Name, since, counts.Began())
		}
	}
	for _, f := range counts.Snapshot() {
		if f.Kind == metrics.Histogram && len(f.Points) > 0 && (sums[f.Name] != f.Points[0].Value || sums[f.Name] == 0) {
			t.Errorf("%s: the sum is %v, want %v", f.Name, sums[f.Name], f.Points[0].Value)
		}
	}
	if len(sums) == 0 {
		t.Error("there are no histograms")
	}
}

func TestInvalidMetricsEndpointIsAMistake(t *testing.T) {
	for _, url := range []string{"grpc://h", "h:1", "http://", "://"} {
		if _, err := otel.NewOTLPMetrics(t.Context(), url, nil, nil); err == nil {
			t.Errorf("%q is taken", url)
		}
	}
	r := newMeter(t, &meter{status: http.StatusOK})
	for i, path := range []string{"", "/", "/v1/metrics", "/own/path"} { // a slash is no path of its own
		want := path
		if i < 2 {
			want = "/v1/metrics"
		}
		if err := otel.TryMetrics(t.Context(), r.URL+path, nil); err != nil || r.taken != i+1 || r.path != want {
			t.Errorf("%q: tried %d times, at %s: %v", path, r.taken, r.path, err)
		}
	}
	r.mu.Lock()
	r.status = http.StatusUnauthorized
	r.mu.Unlock()
	if err := otel.TryMetrics(t.Context(), r.URL, nil); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("a collector that refuses: %v", err)
	}
}
