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
	// Headers are sent with each request, for authentication for example.
	// Default: those of OTEL_EXPORTER_OTLP_HEADERS.
	Headers map[string]string
	// ServiceName is the service.name of the resource. Default: OTEL_SERVICE_NAME,
	// or "compact".
	ServiceName string
	// Timeout is how long one request may take. Default 5 s. One that fails for
	// a passing reason is repeated within twice that time.
	Timeout time.Duration
	// Content has the texts of summaries and searches in the spans, too, redacted.
	Content bool
}

// NewOTLP returns an exporter to an OTLP collector over HTTP, at a base URL
// such as "http://127.0.0.1:4318"; a path, if there is one, is taken as it is.
// An empty URL stands for what the OTEL_EXPORTER_OTLP_… variables say. Span and
// trace ids are those of the events, and each span is sent as its event comes,
// which for a parent is after its children. Nothing is sent yet.
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

// CheckURL reports what is wrong with the base URL of a collector, if anything.
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

// endpointURL is the URL that requests go to: that of a collector, with the path
// where it has none.
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

// describe makes the resource: what the environment says, over our name.
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

// newOwn returns an exporter with a provider of its own, which makes spans with
// the ids of their events and hands them to exporter.
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

// collector is a span processor that gathers the spans of one Export. The
// pipeline has batched, bounded and timed them already.
type collector struct {
	exporter sdktrace.SpanExporter
	spans    []sdktrace.ReadOnlySpan
}

func (*collector) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd gathers a span.
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

// ForceFlush sends what was gathered.
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

// NewSpanID returns the span id of the event in ctx, or a random one where the
// event has none in the form that is needed.
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
