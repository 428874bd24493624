package compact

import (
	"context"
	"errors"
	"log/slog"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// Stats counts the work of a manager since it was created.
type Stats struct {
	Exporters []trace.Stats // one for each exporter, with its emitted, delivered, lost and waiting events
	// Backlog is the data that the archive has not sent to its bucket yet; nil for an
	// archive without a spool.
	Backlog *storage.Backlog
}

// Stats returns the current counts. It may be called at any time, also after
// Close. For an archive with a spool it reads the disk.
func (m *CompactManager) Stats() Stats {
	s := Stats{Exporters: m.pipe.Stats()}
	if b, ok := m.spooled(); ok {
		s.Backlog = &b
	}
	return s
}

// lostEvents returns the number of events that exporters have lost since the start: in
// total, and by exporter for exporters with losses.
func (m *CompactManager) lostEvents() (total uint64, by map[string]uint64) {
	for _, s := range m.pipe.Stats() {
		if n := s.Lost(); n > 0 {
			if by == nil {
				by = map[string]uint64{}
			}
			by[s.Exporter] += n
			total += n
		}
	}
	return total, by
}

// flushTrace waits for the exporters. It returns only the context's error.
func (m *CompactManager) flushTrace(ctx context.Context) error {
	if err := m.pipe.Flush(ctx); err != nil {
		return ctx.Err()
	}
	return nil
}

// pipelineOptions returns the options of the event pipeline.
func (c Config) pipelineOptions() *trace.PipelineOptions {
	told := c.OnTraceError
	if told == nil {
		told = logTraceErrors(c.Logger)
	}
	return &trace.PipelineOptions{CloseTimeout: c.Trace.CloseTimeout, OnError: told}
}

// logTraceErrors returns a function that logs failures of exporters. It skips
// failed exports that the exporter has logged itself, unless events were dropped,
// which the exporter can't know.
func logTraceErrors(log *slog.Logger) func(error) {
	if log == nil {
		log = slog.Default()
	}
	return func(err error) {
		var e *trace.ExportError
		switch {
		case !errors.As(err, &e):
			log.Warn("trace events", "error", err)
		case !e.Logged || e.Op != "export" || e.Dropped > 0:
			log.Warn("trace events did not arrive", "exporter", e.Exporter, "during", e.Op, "lost", e.Lost, "waiting", e.Waiting, "error", e.Err)
		}
	}
}
