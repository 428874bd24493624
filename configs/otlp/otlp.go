// Package otlp links the export of events and metrics over OpenTelemetry's protocol into a
// program that loads configurations: trace.otlp_endpoint and trace.otlp_metrics_endpoint.
// Import it for its effect:
//
//	import _ "github.com/agentcompact/compact/configs/otlp"
package otlp

import (
	"context"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/otel"
)

func init() {
	driver.OTLP = &driver.Collector{
		New: events, Metrics: metrics,
		Try: func(ctx context.Context, endpoint string, timeout time.Duration) error {
			return otel.Try(ctx, endpoint, &otel.OTLPOptions{Timeout: timeout})
		},
		TryMetrics: func(ctx context.Context, endpoint string, timeout time.Duration) error {
			return otel.TryMetrics(ctx, endpoint, &otel.MetricsOptions{Timeout: timeout})
		},
	}
}

func events(t compact.TraceConfig) (trace.Exporter, error) {
	e, err := otel.NewOTLP(context.Background(), t.OTLPEndpoint, eventOptions(t))
	if err != nil {
		return nil, err
	}
	return e, nil
}

func metrics(t compact.TraceConfig) (trace.Exporter, error) {
	e, err := otel.NewOTLPMetrics(context.Background(), t.OTLPMetricsEndpoint, nil, metricsOptions(t))
	if err != nil {
		return nil, err
	}
	return e, nil
}

func eventOptions(t compact.TraceConfig) *otel.OTLPOptions {
	return &otel.OTLPOptions{ServiceName: t.OTLPService, Timeout: t.OTLPTimeout, Content: t.Content}
}

func metricsOptions(t compact.TraceConfig) *otel.MetricsOptions {
	return &otel.MetricsOptions{ServiceName: t.OTLPService, Timeout: t.OTLPTimeout, Interval: t.OTLPMetricsInterval}
}
