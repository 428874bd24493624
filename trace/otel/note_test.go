package otel

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
	"github.com/agentcompact/compact/trace/tracetest"
)

// moody is a receiver of metrics that fails the first requests.
type moody struct {
	sdkmetric.Exporter
	fails int
}

func (m *moody) Export(context.Context, *metricdata.ResourceMetrics) error {
	if m.fails--; m.fails >= 0 {
		return errors.New("no answer")
	}
	return nil
}

func (*moody) Shutdown(context.Context) error { return nil }

// A request delivers the sums since the start, so it makes up for the failures before it.
func TestALaterRequestSettlesAFailedOne(t *testing.T) {
	for _, c := range []struct {
		fails int
		after time.Duration
		told  bool
	}{
		{1, 90 * time.Second, true},
		{1, 150 * time.Second, false},
		{2, 150 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newMetrics(metrics.New(nil), &moody{fails: c.fails}, resource.Empty(), (*MetricsOptions)(nil).withDefaults())
			e.Watch(func() []trace.Stats { return nil })
			time.Sleep(c.after)
			if err := e.Export(t.Context(), tracetest.Sample(time.Now())); (err != nil) != c.told {
				t.Errorf("%d failed requests, %s after the start: %v", c.fails, c.after, err)
			}
			if err := e.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
