package otel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
)

// MetricsOptions changes what [NewOTLPMetrics] does. Nil, and zero fields, mean
// the defaults.
type MetricsOptions struct {
	// Headers are sent with each request, for authentication for example. Default: the
	// headers in OTEL_EXPORTER_OTLP_HEADERS.
	Headers map[string]string
	// ServiceName is the service.name of the resource. Default: OTEL_SERVICE_NAME,
	// or "compact".
	ServiceName string
	// Timeout is the limit for one request. Default 5 s. A request with a
	// transient failure is repeated within twice that time.
	Timeout time.Duration
	// Interval is the time between two requests. Default 1 minute.
	Interval time.Duration
}

func (o *MetricsOptions) withDefaults() MetricsOptions {
	var d MetricsOptions
	if o != nil {
		d = *o
	}
	if d.Timeout <= 0 {
		d.Timeout = 5 * time.Second
	}
	if d.Interval <= 0 {
		d.Interval = time.Minute
	}
	return d
}

// MetricsExporter counts events. It sends the counts to a collector periodically, and
// once more at Shutdown. The counts are sums since the start, so the next request also
// delivers the counts of a failed request. It is a [trace.Exporter] for one manager.
type MetricsExporter struct {
	trace.Exporter // counts the events

	counts *metrics.Metrics
	to     sdkmetric.Exporter
	res    *resource.Resource
	opts   MetricsOptions

	start sync.Once
	life  context.Context // until Shutdown
	stop  context.CancelFunc
	ended chan struct{} // closed when the background goroutine has ended
	once  sync.Once

	mu  sync.Mutex
	err error // error of the last request, until Export returns it
}

var (
	_ trace.Exporter   = (*MetricsExporter)(nil)
	_ trace.Named      = (*MetricsExporter)(nil)
	_ trace.Unwatcher  = (*MetricsExporter)(nil)
	_ metrics.Counting = (*MetricsExporter)(nil)
)

// NewOTLPMetrics returns an exporter that counts in counts (nil: new metrics) and sends
// them by OTLP over HTTP to a base URL such as "http://127.0.0.1:4318"; a path is used
// unchanged. With an empty URL the OTEL_EXPORTER_OTLP_… variables apply. It sends
// nothing before a pipeline uses it.
func NewOTLPMetrics(ctx context.Context, endpoint string, counts *metrics.Metrics, opts *MetricsOptions) (*MetricsExporter, error) {
	o := opts.withDefaults()
	client, err := metricsClient(endpoint, o, otlpmetrichttp.RetryConfig{
		Enabled: true, InitialInterval: 250 * time.Millisecond, MaxInterval: 2 * time.Second, MaxElapsedTime: 2 * o.Timeout,
	})
	if err != nil {
		return nil, err
	}
	to, err := otlpmetrichttp.New(ctx, client...)
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	res, err := describe(ctx, o.ServiceName)
	if err != nil {
		return nil, errors.Join(err, to.Shutdown(ctx))
	}
	if counts == nil {
		counts = metrics.New(nil)
	}
	return newMetrics(counts, to, res, o), nil
}

func newMetrics(counts *metrics.Metrics, to sdkmetric.Exporter, res *resource.Resource, o MetricsOptions) *MetricsExporter {
	e := &MetricsExporter{Exporter: counts.Exporter(), counts: counts, to: to, res: res, opts: o, ended: make(chan struct{})}
	e.life, e.stop = context.WithCancel(context.Background())
	return e
}

func metricsClient(endpoint string, o MetricsOptions, retry otlpmetrichttp.RetryConfig) ([]otlpmetrichttp.Option, error) {
	opts := []otlpmetrichttp.Option{otlpmetrichttp.WithTimeout(o.Timeout), otlpmetrichttp.WithRetry(retry)}
	if len(o.Headers) > 0 {
		opts = append(opts, otlpmetrichttp.WithHeaders(o.Headers))
	}
	if endpoint == "" {
		return opts, nil
	}
	at, err := endpointURL(endpoint, "/v1/metrics")
	if err != nil {
		return nil, err
	}
	return append(opts, otlpmetrichttp.WithEndpointURL(at)), nil
}

// Name is "otlp-metrics".
func (*MetricsExporter) Name() string { return "otlp-metrics" }

// Counts returns the metrics that are sent.
func (e *MetricsExporter) Counts() *metrics.Metrics { return e.counts }

// Watch registers the pipeline's counts, and starts the periodic requests.
func (e *MetricsExporter) Watch(stats func() []trace.Stats) {
	if w, ok := e.Exporter.(trace.Watcher); ok {
		w.Watch(stats)
	}
	e.begin()
}

// WatchBacklog registers the backlog of an archive.
func (e *MetricsExporter) WatchBacklog(read func() (trace.Backlog, bool)) {
	if w, ok := e.Exporter.(trace.BacklogWatcher); ok {
		w.WatchBacklog(read)
	}
}

// Unwatch registers the final counts.
func (e *MetricsExporter) Unwatch(last []trace.Stats) {
	if w, ok := e.Exporter.(trace.Unwatcher); ok {
		w.Unwatch(last)
	}
}

func (e *MetricsExporter) begin() { e.start.Do(func() { go e.run() }) }

// run sends the counts every Interval.
func (e *MetricsExporter) run() {
	defer close(e.ended)
	ticker := time.NewTicker(e.opts.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-e.life.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(e.life, 2*e.opts.Timeout)
		e.note(e.send(ctx))
		cancel()
	}
}

// send sends the current counts.
func (e *MetricsExporter) send(ctx context.Context) error {
	scopes, err := Producer(e.counts).Produce(ctx)
	if err != nil {
		return err
	}
	return e.to.Export(ctx, &metricdata.ResourceMetrics{Resource: e.res, ScopeMetrics: scopes})
}

// note keeps the error of a request until Export returns it.
func (e *MetricsExporter) note(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err = err
}

// Export counts the events. An error may report that the last request failed;
// then no event is lost.
func (e *MetricsExporter) Export(ctx context.Context, events []trace.Event) error {
	if len(events) == 0 {
		return nil
	}
	if err := e.Exporter.Export(ctx, events); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.err
	if e.err = nil; err != nil {
		return &trace.LostError{Err: fmt.Errorf("the counts were not sent: %w", err)}
	}
	return nil
}

// Shutdown sends the counts for the last time.
func (e *MetricsExporter) Shutdown(ctx context.Context) (err error) {
	e.once.Do(func() {
		_ = e.Exporter.Shutdown(ctx) // Shutdown of this exporter can't fail
		e.stop()
		e.start.Do(func() { close(e.ended) }) // run was never started
		select {
		case <-e.ended:
			err = errors.Join(e.send(ctx), e.to.Shutdown(ctx))
		case <-ctx.Done():
			err = ctx.Err()
		}
	})
	return err
}
