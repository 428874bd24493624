package otel_test

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

// collector accepts OTLP over HTTP and keeps the requests.
type collector struct {
	url    string
	status int

	mu       sync.Mutex
	requests []*collectorpb.ExportTraceServiceRequest
	headers  []http.Header
	paths    []string
}

func newCollector(t testing.TB) *collector {
	t.Helper()
	c := &collector{status: http.StatusOK}
	srv := httptest.NewServer(c)
	c.url = srv.URL
	t.Cleanup(srv.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	raw, err := io.ReadAll(body)
	var req collectorpb.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(raw, &req) != nil {
		http.Error(w, "no protobuf", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests, c.headers, c.paths = append(c.requests, &req), append(c.headers, r.Header), append(c.paths, r.URL.Path)
	w.WriteHeader(c.status)
}

func (c *collector) spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*tracepb.Span
	for _, r := range c.requests {
		for _, rs := range r.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				all = append(all, ss.Spans...)
			}
		}
	}
	return all
}

func open(t testing.TB, url string) *otel.Exporter {
	t.Helper()
	e, err := otel.NewOTLP(context.Background(), url, &otel.OTLPOptions{Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestOTLPSendsEventsWithTheirOwnIDs(t *testing.T) {
	c := newCollector(t)
	e := open(t, c.url)
	events := tracetest.Sample(start)
	for _, ev := range events {
		export(t, e, ev) // as they come, the parent last
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	spans := c.spans()
	if len(spans) != len(events) {
		t.Fatalf("%d spans arrived, want %d", len(spans), len(events))
	}
	for i, s := range spans {
		ev := events[i]
		name := ev.Name
		if name == trace.NameSummarize {
			name = "chat gpt-4"
		}
		if s.Name != name || hex.EncodeToString(s.TraceId) != ev.TraceID || hex.EncodeToString(s.SpanId) != ev.SpanID ||
			hex.EncodeToString(s.ParentSpanId) != ev.ParentID {
			t.Errorf("span %d = %s %x %x below %x, want %+v", i, s.Name, s.TraceId, s.SpanId, s.ParentSpanId, ev)
		}
		if s.StartTimeUnixNano != uint64(ev.Start.UnixNano()) || s.EndTimeUnixNano != uint64(ev.End.UnixNano()) {
			t.Errorf("%s: times %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano)
		}
	}
	if c.paths[0] != "/v1/traces" {
		t.Errorf("path = %s", c.paths[0])
	}
}

func TestOTLPKeepsACallerThatIsNotSampledOut(t *testing.T) {
	c := newCollector(t)
	e := open(t, c.url)
	tp, _ := provider(t) // another tracing of the program, with its span in the context
	ctx, caller := tp.Tracer("agent").Start(t.Context(), "invoke_agent")
	defer caller.End()
	traceID, parentID, _ := trace.FromContext(e.Join(ctx))
	ev := tracetest.Sample(start)[6]
	ev.TraceID, ev.ParentID = traceID, parentID
	export(t, e, ev)
	if s := c.spans(); len(s) != 1 || hex.EncodeToString(s[0].ParentSpanId) != parentID {
		t.Errorf("spans: %v", s)
	}
}

// Either all events of a call are exported or none, although the parts of a call come
// before the whole.
func TestOTLPFollowsTheCallersSampling(t *testing.T) {
	c := newCollector(t)
	e := open(t, c.url)
	tp, _ := provider(t, sdktrace.WithSampler(sdktrace.NeverSample()))
	ctx, caller := tp.Tracer("agent").Start(t.Context(), "invoke_agent")
	defer caller.End()
	traceID, parentID, _ := trace.FromContext(e.Join(ctx))
	events := tracetest.Sample(start)
	for i := range events {
		events[i].TraceID = traceID
	}
	events[len(events)-1].ParentID = parentID
	export(t, e, events...)
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := c.spans(); len(s) > 0 {
		t.Errorf("%d spans of a call that is not sampled", len(s))
	}
}

func TestOTLPDescribesItsService(t *testing.T) {
	for _, c := range []struct{ option, env, want string }{
		{"", "", "compact"},
		{"", "from-env", "from-env"},
		{"mine", "from-env", "mine"},
	} {
		t.Setenv("OTEL_SERVICE_NAME", c.env)
		col := newCollector(t)
		e, err := otel.NewOTLP(t.Context(), col.url+"/custom/path", &otel.OTLPOptions{ServiceName: c.option, Headers: map[string]string{"x-team": "seven"}})
		if err != nil {
			t.Fatal(err)
		}
		export(t, e, tracetest.Sample(start)...)
		if err := e.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range col.requests[0].ResourceSpans[0].Resource.Attributes {
			if a.Key == "service.name" {
				got = a.Value.GetStringValue()
			}
		}
		if got != c.want {
			t.Errorf("service.name = %q, want %q", got, c.want)
		}
		if col.headers[0].Get("x-team") != "seven" || col.paths[0] != "/custom/path" {
			t.Errorf("headers %v, path %s", col.headers[0], col.paths[0])
		}
	}
}

func TestOTLPReturnsTheCollectorsRefusal(t *testing.T) {
	c := newCollector(t)
	c.status = http.StatusBadRequest
	err := open(t, c.url).Export(t.Context(), tracetest.Sample(start))
	if err == nil || !strings.Contains(err.Error(), "400") {
		t.Errorf("err = %v", err)
	}
	if n := len(c.requests); n != 1 {
		t.Errorf("%d requests, want 1: a refusal is not repeated", n)
	}
}

func TestOTLPRetriesTransientFailures(t *testing.T) {
	c := newCollector(t)
	c.status = http.StatusServiceUnavailable
	if err := open(t, c.url).Export(t.Context(), tracetest.Sample(start)); err == nil {
		t.Error("nothing was delivered, but no error was returned")
	}
	if n := len(c.requests); n < 2 {
		t.Errorf("%d requests, want more than one", n)
	}
}

func TestOTLPCutsNothing(t *testing.T) {
	c := newCollector(t)
	e := open(t, c.url)
	long := strings.Repeat("日本", 100_000)
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	ev := tracetest.Sample(start)[0]
	ev.Data = r.Text(`{"output_text":"` + long + `"}`)
	export(t, e, ev)
	for _, a := range c.spans()[0].Attributes {
		if a.Key == "compact.output_text" && a.Value.GetStringValue() == long {
			return
		}
	}
	t.Error("the text did not arrive whole")
}

func TestCheckURLNamesTheFaultAndNoPassword(t *testing.T) {
	for url, want := range map[string]string{
		"": "", "http://127.0.0.1:4318": "", "https://h/v1/traces": "",
		"127.0.0.1:4318": "not a URL", "grpc://h": "scheme must be http or https", "http://": "host is missing", "http://u:sesame@h:x": "not a URL",
	} {
		got := ""
		if err := otel.CheckURL(url); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("CheckURL(%q) = %q, want %q", url, got, want)
		}
	}
	if _, err := otel.NewOTLP(t.Context(), "grpc://h", nil); err == nil {
		t.Error("NewOTLP took a URL that can't be used")
	}
}

// At first nothing listens on the port. Then a collector answers, but refuses.
func TestUnsentSpansAreRetried(t *testing.T) {
	e, err := otel.NewOTLP(t.Context(), tracetest.DeadURL(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	events := tracetest.Sample(time.Now())
	var retry *trace.RetryError
	if err := e.Export(t.Context(), events); !errors.As(err, &retry) || retry.Done != 0 {
		t.Errorf("Export = %v, want a RetryError of all events", err)
	}
	if err := e.Shutdown(t.Context()); err != nil { // the events are the pipeline's again
		t.Errorf("Shutdown = %v", err)
	}
	c := newCollector(t)
	c.status = http.StatusUnauthorized
	if e, err = otel.NewOTLP(t.Context(), c.url, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Export(t.Context(), events); err == nil || errors.As(err, new(*trace.RetryError)) {
		t.Errorf("Export = %v, want the refusal as a permanent error", err)
	}
}
