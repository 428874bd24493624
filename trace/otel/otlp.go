package otel

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/trace"
)

// OTLPOptions changes what [NewOTLP] does. Nil, and zero fields, mean the
// defaults.
type OTLPOptions struct {
	// Headers are sent with each request, for authentication for example. Default: the
	// headers in OTEL_EXPORTER_OTLP_HEADERS.
	Headers map[string]string
	// ServiceName is the service.name of the resource. Default: OTEL_SERVICE_NAME,
	// or "compact".
	ServiceName string
	// Timeout is the limit for one request. Default 5 s. A request with a
	// transient failure is repeated within twice that time.
	Timeout time.Duration
	// Content includes the redacted texts of summaries and searches in the
	// spans.
	Content bool
}

// NewOTLP returns an exporter to an OTLP collector over HTTP, at a base URL such as
// "http://127.0.0.1:4318"; a path is used unchanged. With an empty URL the
// OTEL_EXPORTER_OTLP_… variables apply. Spans have the span and trace ids of their
// events. Each span is sent with its event, so a parent comes after its children.
// Nothing is sent yet.
func NewOTLP(ctx context.Context, endpoint string, opts *OTLPOptions) (*Exporter, error) {
	var o OTLPOptions
	if opts != nil {
		o = *opts
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	client, err := clientOptions(endpoint, o)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptracehttp.New(ctx, client...)
	if err != nil {
		return nil, fmt.Errorf("otlp: %w", err)
	}
	res, err := describe(ctx, o.ServiceName)
	if err != nil {
		return nil, errors.Join(err, exporter.Shutdown(ctx))
	}
	e := newOwn(exporter, res)
	e.content = o.Content
	return e, nil
}

// CheckURL returns an error if the base URL of a collector is wrong.
func CheckURL(endpoint string) error {
	_, err := clientOptions(endpoint, OTLPOptions{})
	return err
}

func clientOptions(endpoint string, o OTLPOptions) ([]otlptracehttp.Option, error) {
	opts := []otlptracehttp.Option{
		otlptracehttp.WithTimeout(o.Timeout),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: 250 * time.Millisecond, MaxInterval: 2 * time.Second, MaxElapsedTime: 2 * o.Timeout,
		}),
	}
	if len(o.Headers) > 0 {
		opts = append(opts, otlptracehttp.WithHeaders(o.Headers))
	}
	if endpoint == "" {
		return opts, nil
	}
	at, err := endpointURL(endpoint, "/v1/traces")
	if err != nil {
		return nil, err
	}
	return append(opts, otlptracehttp.WithEndpointURL(at)), nil
}

// endpointURL returns the URL for requests: the collector's, with path if it
// has none.
func endpointURL(endpoint, path string) (string, error) {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil:
		return "", errors.New("not a URL") // the parser's error would repeat it, password included
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("scheme must be http or https")
	case u.Host == "":
		return "", errors.New("host is missing")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	return u.String(), nil
}

// describe returns the resource. The environment overrides the default name, and
// a non-empty service overrides both.
func describe(ctx context.Context, service string) (*resource.Resource, error) {
	name := resource.WithAttributes(attribute.String("service.name", "compact"))
	opts := []resource.Option{name, resource.WithTelemetrySDK(), resource.WithFromEnv()}
	if service != "" {
		opts = append(opts, resource.WithAttributes(attribute.String("service.name", service)))
	}
	res, err := resource.New(ctx, opts...)
	if err != nil {
		return nil, fmt.Errorf("otlp: resource: %w", err)
	}
	return res, nil
}

// newOwn returns an exporter with its own provider, which makes spans with the
// ids of their events and passes them to exporter.
func newOwn(exporter sdktrace.SpanExporter, res *resource.Resource) *Exporter {
	c := &collector{exporter: exporter}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithResource(res), sdktrace.WithIDGenerator(eventIDs{}), sdktrace.WithSpanProcessor(c),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())), sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{
			AttributeValueLengthLimit: -1, AttributeCountLimit: -1, EventCountLimit: -1,
			LinkCountLimit: -1, AttributePerEventCountLimit: -1, AttributePerLinkCountLimit: -1,
		}),
	)
	e := New(provider)
	e.ownIDs, e.flush, e.shutdown = true, c.send, provider.Shutdown
	return e
}

// collector is a span processor that collects the spans of one Export. The
// pipeline already does the batching, limits and timing.
type collector struct {
	exporter sdktrace.SpanExporter
	spans    []sdktrace.ReadOnlySpan
}

func (*collector) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd collects a span.
func (c *collector) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		c.spans = append(c.spans, s)
	}
}

func (c *collector) send(ctx context.Context) error {
	if len(c.spans) == 0 {
		return nil
	}
	spans := c.spans
	c.spans = nil
	return c.exporter.ExportSpans(ctx, spans)
}

// ForceFlush sends the collected spans.
func (c *collector) ForceFlush(ctx context.Context) error { return c.send(ctx) }

// Shutdown ends the exporter.
func (c *collector) Shutdown(ctx context.Context) error { return c.exporter.Shutdown(ctx) }

// eventIDs gives spans the ids of their events.
type eventIDs struct{}

type idsKey struct{}

type ids struct {
	trace oteltrace.TraceID
	span  oteltrace.SpanID
}

func withIDs(ctx context.Context, ev *trace.Event) context.Context {
	return context.WithValue(ctx, idsKey{}, ids{traceIDOf(ev), spanIDOf(ev.SpanID)})
}

// NewIDs returns the ids of the event in ctx.
func (g eventIDs) NewIDs(ctx context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	known, _ := ctx.Value(idsKey{}).(ids)
	return known.trace, g.NewSpanID(ctx, known.trace)
}

// NewSpanID returns the span id of the event in ctx, or a random one if the
// event has no valid id.
func (eventIDs) NewSpanID(ctx context.Context, _ oteltrace.TraceID) oteltrace.SpanID {
	known, _ := ctx.Value(idsKey{}).(ids)
	for !known.span.IsValid() {
		v := rand.Uint64()
		for i := range known.span {
			known.span[i] = byte(v >> (8 * i))
		}
	}
	return known.span
}
