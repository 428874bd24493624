package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/all"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace/metrics"
)

// numbers returns the values of metrics in the collector's file: the sum of a counter or
// gauge over its labels, or the number of values of a histogram.
func numbers(t *testing.T, file string) map[string]float64 {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil // nothing has come yet
	}
	all := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() { // each request has all metrics; the last request counts
		type points struct {
			DataPoints []struct {
				AsDouble float64
				Count    json.Number
			}
		}
		var req struct {
			ResourceMetrics []struct {
				ScopeMetrics []struct {
					Metrics []struct {
						Name                  string
						Sum, Gauge, Histogram *points
					}
				}
			}
		}
		if json.Unmarshal(lines.Bytes(), &req) != nil {
			return nil // half a line: it is still writing
		}
		clear(all)
		for _, r := range req.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, m := range s.Metrics {
					all[m.Name] = 0
					for _, of := range []*points{m.Sum, m.Gauge, m.Histogram} {
						if of == nil {
							continue
						}
						for _, p := range of.DataPoints {
							n, _ := p.Count.Float64()
							all[m.Name] += p.AsDouble + n
						}
					}
				}
			}
		}
	}
	return all
}

// The real collector writes at the end the same as was counted, metric by metric.
func TestCollectorNamedInAFileReceivesMetrics(t *testing.T) {
	url, file := collector(t)
	path := filepath.Join(t.TempDir(), "compact.yaml")
	text := "model: gpt-4o\nmax_context_tokens: 8000\nstorage: {adapter: memory}\ntrace: {otlp_endpoint: \"" + url + "\", otlp_metrics_endpoint: \"" + url + "\", otlp_metrics_interval: 20ms}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := configs.Load(path, configs.Environ(nil))
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	history := []message.Message{message.System("You count.")}
	for i := range 80 {
		history = append(history, message.User(string(bytes.Repeat([]byte("word "), 150))), message.Assistant("Done."))
		if _, err := m.Preflight(t.Context(), "s", history[:len(history)-1]); err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for _, f := range metrics.Of(c.Exporters).Snapshot() {
		for _, p := range f.Points {
			if f.Kind == metrics.Histogram {
				want[f.Name] += float64(p.Count)
			} else {
				want[f.Name] += p.Value
			}
		}
	}
	if want["compact.calls"] != 80 || want["compact.compactions"] < 1 || want["compact.saved_tokens"] == 0 {
		t.Fatalf("counted: %v", want)
	}
	var got map[string]float64
	waitFor(t, "the last metrics are in the file", func() bool {
		got = numbers(t, metricsFile(file))
		return got["compact.calls"] == 80
	})
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch have, there := got[name]; {
		case name == "compact.events.delivered" || name == "compact.events.waiting": // the file of the spans, which are still on their way
		case !there && want[name] != 0 || have != want[name]:
			t.Errorf("%s is %v, want %v", name, have, want[name])
		}
	}
}
