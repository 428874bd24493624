package metrics

import (
	"context"

	"github.com/agentcompact/compact/trace"
)

// exporter feeds metrics with the events of one pipeline.
type exporter struct {
	to     *Metrics
	closed bool
}

var (
	_ trace.Exporter  = (*exporter)(nil)
	_ trace.Named     = (*exporter)(nil)
	_ trace.Unwatcher = (*exporter)(nil)
)

// Exporter returns an exporter that counts events. Each manager needs one of its
// own; all of them may count in the same metrics.
func (m *Metrics) Exporter() trace.Exporter { return &exporter{to: m} }

// Name is "metrics".
func (*exporter) Name() string { return "metrics" }

// Watch is told how to ask for the pipeline's own counts.
func (e *exporter) Watch(stats func() []trace.Stats) {
	e.to.mu.Lock()
	defer e.to.mu.Unlock()
	e.to.pipes[e] = stats
}

// Unwatch keeps what was counted, and lets go of the pipeline: metrics may outlive
// many.
func (e *exporter) Unwatch(last []trace.Stats) {
	e.to.mu.Lock()
	defer e.to.mu.Unlock()
	delete(e.to.pipes, e)
	sum(e.to.ended, last)
}

// Export counts the events.
func (e *exporter) Export(_ context.Context, events []trace.Event) error {
	if len(events) == 0 {
		return nil
	}
	if e.closed {
		return trace.ErrShutdown
	}
	e.to.mu.Lock()
	defer e.to.mu.Unlock()
	for i := range events {
		e.to.count(&events[i])
	}
	return nil
}

// Shutdown ends the exporter; what was counted stays.
func (e *exporter) Shutdown(context.Context) error {
	e.closed = true
	return nil
}

// Counting is an exporter that counts events in metrics.
type Counting interface {
	Counts() *Metrics
}

// Counts are the metrics that are fed.
func (e *exporter) Counts() *Metrics { return e.to }

// Of returns the metrics that one of the exporters counts in; nil = none does.
func Of(exporters []trace.Exporter) *Metrics {
	for _, e := range exporters {
		if c, ok := e.(Counting); ok {
			return c.Counts()
		}
	}
	return nil
}
