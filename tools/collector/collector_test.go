package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

// asCollector makes the test binary the collector, so that no other program
// must be built.
const asCollector = "COMPACT_TEST_COLLECTOR"

func TestMain(m *testing.M) {
	if os.Getenv(asCollector) != "" {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const config = `
receivers:
  otlp:
    protocols:
      http:
        endpoint: %s
exporters:
  file:
    path: %s
    flush_interval: 10ms
  file/metrics:
    path: %s
    flush_interval: 10ms
service:
  pipelines:
    metrics:
      receivers: [otlp]
      exporters: [file/metrics]
    traces:
      receivers: [otlp]
      exporters: [file]
  telemetry:
    metrics:
      level: none
    logs:
      level: warn
`

// metricsFile returns the file of the metrics, beside the file of the spans.
func metricsFile(file string) string { return filepath.Join(filepath.Dir(file), "metrics.jsonl") }

// collector runs a collector until the end of the test. It returns its base URL
// and the file that it writes to.
func collector(t *testing.T) (url, file string) {
	t.Helper()
	dir := t.TempDir()
	file = filepath.Join(dir, "spans.jsonl")
	address := freeAddress(t)
	conf := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(conf, fmt.Appendf(nil, config, address, file, metricsFile(file)), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.Command(os.Args[0], "--config", conf)
	cmd.Env = append(os.Environ(), asCollector+"=1")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Logf("collector: %v\n%s", err, log.String())
		}
	})
	waitFor(t, "the collector listens", func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	return "http://" + address, file
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 30s: %s", what)
		}
	}
}

// span is a span in the collector's file.
type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []attribute
	Status                              struct{ Code int }
}

type attribute struct {
	Key   string
	Value map[string]any
}

func (s span) attr(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			for _, v := range a.Value {
				return fmt.Sprint(v)
			}
		}
	}
	return ""
}

// read returns the spans in the file, and the service names beside them.
func read(t *testing.T, file string) (spans []span, services map[string]bool) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, nil // nothing has come yet
	}
	services = map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var req struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes []attribute }
				ScopeSpans []struct{ Spans []span }
			}
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil {
			return nil, nil // half a line: it is still writing
		}
		for _, r := range req.ResourceSpans {
			services[span{Attributes: r.Resource.Attributes}.attr("service.name")] = true
			for _, s := range r.ScopeSpans {
				spans = append(spans, s.Spans...)
			}
		}
	}
	return spans, services
}

// The real collector writes the same as was emitted: ids, parents, times and
// attributes.
func TestCollectorReceivesEveryEvent(t *testing.T) {
	url, file := collector(t)
	e, err := otel.NewOTLP(t.Context(), url, &otel.OTLPOptions{ServiceName: "agent", Content: true})
	if err != nil {
		t.Fatal(err)
	}
	var errs []error
	p := trace.NewPipeline([]trace.Exporter{e}, &trace.PipelineOptions{OnError: func(err error) { errs = append(errs, err) }})
	const calls = 300
	want := map[string]trace.Event{}
	at := time.Now()
	for i := range calls {
		events := tracetest.Sample(at.Add(time.Duration(i) * time.Minute))
		events[3].Status = trace.StatusError
		for _, ev := range events {
			want[ev.SpanID] = ev
		}
		p.Emit(events...)
	}
	if err := p.Close(context.Background()); err != nil || len(errs) > 0 {
		t.Fatalf("Close: %v; %v", err, errs)
	}
	waitFor(t, "all spans are in the file", func() bool {
		spans, _ := read(t, file)
		return len(spans) >= len(want)
	})
	spans, services := read(t, file)
	if len(spans) != len(want) || !services["agent"] || len(services) != 1 {
		t.Errorf("%d spans of %v, want %d", len(spans), services, len(want))
	}
	for _, s := range spans {
		compare(t, s, want[s.SpanID])
	}
}

func compare(t *testing.T, s span, ev trace.Event) {
	t.Helper()
	name := ev.Name
	if name == trace.NameSummarize {
		name = "chat gpt-4" // as the conventions name the call of a model
	}
	if s.TraceID != ev.TraceID || s.ParentSpanID != ev.ParentID || s.Name != name {
		t.Errorf("span %+v, want %+v", s, ev)
	}
	if s.StartTimeUnixNano != fmt.Sprint(ev.Start.UnixNano()) || s.EndTimeUnixNano != fmt.Sprint(ev.End.UnixNano()) {
		t.Errorf("%s: from %s to %s", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano)
	}
	if s.attr("gen_ai.conversation.id") != tracetest.Session || s.attr("compact.kind") != ev.Kind || s.attr("compact.output_text") == "" {
		t.Errorf("%s: attributes %v", s.Name, s.Attributes)
	}
	if failed := s.Status.Code == 2; failed != ev.Failed() {
		t.Errorf("%s: status %d", s.Name, s.Status.Code)
	}
	if ev.Name == trace.NameSummarize && (s.Kind != 3 || s.attr("gen_ai.request.model") != "gpt-4" || !strings.Contains(s.attr("compact.output_text"), "Goals")) {
		t.Errorf("summarize: kind %d, %v", s.Kind, s.Attributes)
	}
}
