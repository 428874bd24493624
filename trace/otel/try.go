package otel

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Try sends a collector a request without spans, with the headers of spans, so
// that nothing is stored. Endpoint and opts are as for [NewOTLP]. It does not
// retry. Its errors contain no password.
func Try(ctx context.Context, endpoint string, opts *OTLPOptions) error {
	var o OTLPOptions
	if opts != nil {
		o = *opts
	}
	options, err := clientOptions(endpoint, o)
	if err != nil {
		return err
	}
	client := otlptracehttp.NewClient(append(options, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))...)
	if err := client.Start(ctx); err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	err = client.UploadTraces(ctx, nil)
	if u := new(url.Error); errors.As(err, &u) {
		err = u.Err // the error contains the URL
	}
	if err != nil {
		err = fmt.Errorf("otlp: %w", err)
	}
	return errors.Join(err, client.Stop(context.WithoutCancel(ctx)))
}

// TryMetrics sends a collector a request without metrics, with the headers of
// metrics. It does not retry. Its errors contain no password.
func TryMetrics(ctx context.Context, endpoint string, opts *MetricsOptions) error {
	client, err := metricsClient(endpoint, opts.withDefaults(), otlpmetrichttp.RetryConfig{})
	if err != nil {
		return err
	}
	to, err := otlpmetrichttp.New(ctx, client...)
	if err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	err = to.Export(ctx, &metricdata.ResourceMetrics{})
	if u := new(url.Error); errors.As(err, &u) {
		err = u.Err // the error contains the URL
	}
	if err != nil {
		err = fmt.Errorf("otlp: %w", err)
	}
	return errors.Join(err, to.Shutdown(context.WithoutCancel(ctx)))
}
