// Package metrics counts what events report: calls, tokens, compactions,
// failures, dollars. It is the only place that derives numbers from events. The
// /metrics handler of package serve, the handler here and the OTLP exporter of
// package trace/otel read its counts.
//
//	counts := metrics.New(nil)
//	cfg.Exporters = append(cfg.Exporters, counts.Exporter())
//	http.Handle("/metrics", counts)
//
// # Names
//
// A family has its OpenTelemetry name ("compact.preflight.duration", in "s").
// Prometheus gets the name that a collector would write
// (compact_preflight_duration_seconds), so that a dashboard works with both.
//
// # Labels
//
// No label holds a session, an agent, a path or a text of a conversation.
// Values from outside, such as a model's name, are limited: from the 51st value
// of a label on, the label has the value "_other". See [Options].
//
// Counts for alerts exist from the start, at 0: Prometheus does not detect an
// increase in a series that begins with 1.
package metrics
