package configs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace/metrics"
)

func TestCollectorReceivesEvents(t *testing.T) {
	var posts atomic.Int64
	var tenant, path atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		tenant.Store(r.Header.Get("X-Tenant"))
		path.Store(r.URL.Path)
	}))
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=seven")
	for what, c := range map[string]compact.Config{
		"file": load(t, "model: gpt-4\nstorage: {adapter: memory}\ntrace: {otlp_endpoint: \""+srv.URL+"\", otlp_timeout: 2s}\n"),
		"environment": load(t, "model: gpt-4\nstorage: {adapter: memory}\n",
			Environ([]string{"COMPACT_OTLP_ENDPOINT=" + srv.URL, "COMPACT_TRACE_OTLP_SERVICE=agent"})),
	} {
		posts.Store(0)
		m, err := compact.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Preflight(t.Context(), "s", []message.Message{message.User("hello")}); err != nil {
			t.Fatal(err)
		}
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if posts.Load() == 0 || path.Load() != "/v1/traces" || tenant.Load() != "seven" {
			t.Errorf("%s: %d requests to %v, tenant %v", what, posts.Load(), path.Load(), tenant.Load())
		}
	}
}

// Metrics go to the collector named in a file, with the headers from the
// environment, and serve shows the same metrics.
func TestCollectorReceivesMetrics(t *testing.T) {
	var posts atomic.Int64
	var tenant, path atomic.Value
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		tenant.Store(r.Header.Get("X-Tenant"))
		path.Store(r.URL.Path)
	}))
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=seven")
	c := load(t, "model: gpt-4\nstorage: {adapter: memory}\n", Environ([]string{"COMPACT_TRACE_OTLP_METRICS_ENDPOINT=" + srv.URL, "COMPACT_TRACE_OTLP_METRICS_INTERVAL=1h"}))
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Preflight(t.Context(), "s", []message.Message{message.User("hello")}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if posts.Load() != 1 || path.Load() != "/v1/metrics" || tenant.Load() != "seven" {
		t.Errorf("%d requests to %v, tenant %v", posts.Load(), path.Load(), tenant.Load())
	}
	counts := metrics.Of(c.Exporters)
	if counts == nil || !strings.Contains(string(counts.AppendText(nil)), "compact_calls_total{outcome=\"unchanged\"} 1\n") {
		t.Error("the call is not counted")
	}
}

func TestInvalidCollectorIsAMistake(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"trace: {otlp_endpoint: localhost}\n", `f.yaml:1: trace.otlp_endpoint must be a URL that begins with http:// or https:// (got "localhost")`},
		{"trace: {otlp_endpoint: \"grpc://h:1\"}\n", `f.yaml:1: trace.otlp_endpoint must be a URL that begins with http:// or https:// (got "grpc://h:1")`},
		{"trace: {otlp_metrics_endpoint: localhost}\n", `f.yaml:1: trace.otlp_metrics_endpoint must be a URL that begins with http:// or https:// (got "localhost")`},
		{"trace: {otlp_headers: \"a=b\"}\n", `f.yaml:1: unknown key "trace.otlp_headers"`},
	} {
		got := mistakes(c.text)
		if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// A program that builds its own configuration learns that OpenTelemetry needs
// this package.
func TestCollectorWithoutExporterIsAnError(t *testing.T) {
	c, err := compact.Preset("")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Storage.Adapter, c.Trace.OTLPEndpoint = "gpt-4", "memory", "http://127.0.0.1:4318"
	if _, err := compact.New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "configs.Load") {
		t.Errorf("got %v", err)
	}
}

func TestPseudonymsNeedAKeyFromTheEnvironment(t *testing.T) {
	const text = "model: gpt-4\nstorage: {adapter: memory}\nredaction: {pseudonyms: true}\n"
	if diff := cmp.Diff([]string{"f.yaml:3: redaction.pseudonyms needs a key of 16 bytes or more (there is none): the environment variable COMPACT_PSEUDONYM_KEY, or in Go RedactionConfig.PseudonymKey"}, mistakes(text)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"f.yaml:3: redaction.pseudonyms needs a key of 16 bytes or more (it has 5): the environment variable COMPACT_PSEUDONYM_KEY, or in Go RedactionConfig.PseudonymKey"},
		mistakes(text, Environ([]string{"COMPACT_PSEUDONYM_KEY=short"}))); diff != "" {
		t.Error(diff)
	}
	key := strings.Repeat("k1", 16)
	c := load(t, text, Environ([]string{"COMPACT_PSEUDONYM_KEY=" + key}))
	if string(c.Redaction.PseudonymKey) != key {
		t.Error("the key does not arrive")
	}
	for _, shown := range []string{fmt.Sprintf("%v", c), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c), fmt.Sprint(c.Redaction.PseudonymKey)} {
		if strings.Contains(shown, key) || strings.Contains(shown, "107, 49") || strings.Contains(shown, "0x6b, 0x31") {
			t.Errorf("the key is shown: %s", shown)
		}
	}
	c.Redaction.PseudonymKey = nil
	if _, err := compact.New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "COMPACT_PSEUDONYM_KEY") {
		t.Errorf("without a key: %v", err)
	}
}

// A process that would write unsigned heads where heads are verified does not start. One
// that only reads does.
func TestUnsignedHeadsAreRefusedWhereHeadsAreVerified(t *testing.T) {
	public := Environ([]string{"COMPACT_HEADS_PUBLIC=" + strings.Repeat("A", 43) + "="})
	_, err := Load("", public)
	if err == nil || !strings.Contains(err.Error(), "COMPACT_HEADS_PUBLIC: is set") || !strings.Contains(err.Error(), "set COMPACT_HEADS_KEY") {
		t.Errorf("an agent's configuration: %v", err)
	}
	if _, err := Load("", public, KeysOptional()); err != nil {
		t.Errorf("a configuration that is only inspected: %v", err)
	}
	if _, err := Load("", Environ([]string{"COMPACT_HEADS_PUBLIC=" + strings.Repeat("A", 43) + "=", "COMPACT_HEADS_KEY=" + strings.Repeat("Q", 42) + "k="})); err != nil {
		t.Errorf("with the key: %v", err)
	}
}
