// Package metrics counts what events say: how many calls, tokens, compactions,
// failures, dollars. It is the one place in which a number is made of events;
// /metrics of package serve, the handler here and the OTLP exporter of package
// trace/otel read what it has counted.
//
//	counts := metrics.New(nil)
//	cfg.Exporters = append(cfg.Exporters, counts.Exporter())
//	http.Handle("/metrics", counts)
//
// # Names
//
// A family is named as OpenTelemetry names it ("compact.preflight.duration", in
// "s") and is written for Prometheus as a collector would write it
// (compact_preflight_duration_seconds), so that a board reads both.
//
// # Labels
//
// No label holds a session, an agent, a path or a text of a conversation. What
// comes from outside, as a model's name does, is bounded: from a label's 51st
// value on it is "_other". See [Options].
//
// Counts that alerts are made of are there from the start, at 0: Prometheus
// sees no increase in a series that begins with 1.
package metrics
