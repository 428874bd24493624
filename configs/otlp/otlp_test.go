package otlp

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/trace/otel"
)

// Each setting reaches the options. The headers come from the environment.
func TestSettingsReachTheExporters(t *testing.T) {
	c := compact.TraceConfig{OTLPService: "agent", OTLPTimeout: 3 * time.Second, OTLPMetricsInterval: 7 * time.Second, Content: true}
	if diff := cmp.Diff(&otel.OTLPOptions{ServiceName: "agent", Timeout: 3 * time.Second, Content: true}, eventOptions(c)); diff != "" {
		t.Errorf("events: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(&otel.MetricsOptions{ServiceName: "agent", Timeout: 3 * time.Second, Interval: 7 * time.Second}, metricsOptions(c)); diff != "" {
		t.Errorf("metrics: -want +got:\n%s", diff)
	}
}
