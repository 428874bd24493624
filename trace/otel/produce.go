package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/agentcompact/compact/trace/metrics"
)

// Producer passes counts to a reader of the program, such as a periodic reader
// or OpenTelemetry's Prometheus exporter:
// sdkmetric.WithProducer(otel.Producer(counts)). The program must add
// counts.Exporter() to the manager's exporters.
func Producer(counts *metrics.Metrics) sdkmetric.Producer { return producer{counts} }

type producer struct{ counts *metrics.Metrics }

// Produce returns the current counts, as sums since the start.
func (p producer) Produce(ctx context.Context) ([]metricdata.ScopeMetrics, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, from, now := p.counts.Snapshot(), p.counts.Began(), time.Now()
	out := make([]metricdata.Metrics, 0, len(all))
	for i := range all {
		if len(all[i].Points) > 0 {
			out = append(out, metricdata.Metrics{Name: all[i].Name, Description: all[i].Help, Unit: all[i].Unit, Data: data(&all[i], from, now)})
		}
	}
	return []metricdata.ScopeMetrics{{
		Scope:   instrumentation.Scope{Name: scope, Version: version(), SchemaURL: schemaURL},
		Metrics: out,
	}}, nil
}

// data returns the points of a family.
func data(f *metrics.Family, from, now time.Time) metricdata.Aggregation {
	switch f.Kind {
	case metrics.Gauge:
		return metricdata.Gauge[float64]{DataPoints: points(f, from, now)}
	case metrics.Histogram:
		return histogram(f, from, now)
	}
	return metricdata.Sum[float64]{DataPoints: points(f, from, now), Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
}

func points(f *metrics.Family, from, now time.Time) []metricdata.DataPoint[float64] {
	out := make([]metricdata.DataPoint[float64], len(f.Points))
	for i, p := range f.Points {
		out[i] = metricdata.DataPoint[float64]{Attributes: labels(f, p), StartTime: from, Time: now, Value: p.Value}
	}
	return out
}

func histogram(f *metrics.Family, from, now time.Time) metricdata.Histogram[float64] {
	out := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
	for _, p := range f.Points {
		out.DataPoints = append(out.DataPoints, metricdata.HistogramDataPoint[float64]{
			Attributes: labels(f, p), StartTime: from, Time: now, Count: p.Count, Sum: p.Value, Bounds: f.Bounds, BucketCounts: p.Buckets,
		})
	}
	return out
}

// labels returns the labels of a point, without empty ones.
func labels(f *metrics.Family, p metrics.Point) attribute.Set {
	var all []attribute.KeyValue
	for i, v := range p.Values {
		if v != "" {
			all = append(all, attribute.String(f.Labels[i], v))
		}
	}
	return attribute.NewSet(all...)
}
