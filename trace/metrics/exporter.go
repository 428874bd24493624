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

	_ trace.BacklogWatcher = (*exporter)(nil)
)

// Exporter returns an exporter that counts events. Each manager needs its own
// exporter; all of them may count in the same metrics.
func (m *Metrics) Exporter() trace.Exporter { return &exporter{to: m} }

// Name is "metrics".
func (*exporter) Name() string { return "metrics" }

// Watch registers the pipeline's own counts.
func (e *exporter) Watch(stats func() []trace.Stats) {
	e.to.mu.Lock()
	defer e.to.mu.Unlock()
	e.to.pipes[e] = stats
}

// Unwatch keeps the final counts and forgets the pipeline: metrics may outlive
// many pipelines.
func (e *exporter) Unwatch(last []trace.Stats) {
	e.to.mu.Lock()
	defer e.to.mu.Unlock()
	delete(e.to.pipes, e)
	delete(e.to.backlogs, e)
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

// Shutdown ends the exporter; the counts stay.
func (e *exporter) Shutdown(context.Context) error {
	e.closed = true
	return nil
}

// Counting is an exporter that counts events in metrics.
type Counting interface {
	Counts() *Metrics
}

// Counts returns the metrics in which the exporter counts.
func (e *exporter) Counts() *Metrics { return e.to }

// Of returns the metrics in which one of the exporters counts; nil = none does.
func Of(exporters []trace.Exporter) *Metrics {
	for _, e := range exporters {
		if c, ok := e.(Counting); ok {
			return c.Counts()
		}
	}
	return nil
}
