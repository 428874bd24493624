package trace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// PipelineOptions configures a [Pipeline]. nil and zero fields are the
// defaults.
type PipelineOptions struct {
	// QueueEvents is the maximum number of events that wait for one exporter.
	// Default 16384.
	QueueEvents int
	// QueueBytes limits the memory of the events, per exporter: their content and their
	// places in the queue. The default is 16 MiB, which is more than a second of ten
	// thousand usual events. A single event is always accepted, even if it is larger.
	QueueBytes int
	// BatchEvents is the maximum number of events in one batch. Default 512.
	BatchEvents int
	// Linger is the time that an event waits for others to share its batch.
	// Default 50 ms.
	Linger time.Duration
	// ExportTimeout is the deadline of one Export. Default 10 s.
	ExportTimeout time.Duration
	// CloseTimeout limits how long Close waits, even if its context allows more. The
	// default is 5 s.
	CloseTimeout time.Duration
	// OnError receives the failures of exporters as [*ExportError]: the first at
	// once, later ones together at most every 10 s, and the rest at Close. Calls
	// for one exporter do not overlap. It must not call the pipeline's Flush or
	// Close. Default none.
	OnError func(error)
}

func (o *PipelineOptions) withDefaults() PipelineOptions {
	var d PipelineOptions
	if o != nil {
		d = *o
	}
	setDefault(&d.QueueEvents, 16_384)
	setDefault(&d.QueueBytes, 16<<20)
	setDefault(&d.BatchEvents, 512)
	setDefault(&d.Linger, 50*time.Millisecond)
	setDefault(&d.ExportTimeout, 10*time.Second)
	setDefault(&d.CloseTimeout, 5*time.Second)
	if d.OnError == nil {
		d.OnError = func(error) {}
	}
	return d
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// A Pipeline passes events to exporters without blocking the caller. Each
// exporter has its own bounded queue and goroutine, so that a stuck exporter
// does not delay the others. A full queue drops its oldest events and counts
// them.
//
// All methods may be called concurrently. A Pipeline without exporters does
// nothing and needs no Close.
type Pipeline struct {
	workers []*worker
	timeout time.Duration // limit of Close
	running atomic.Int64  // number of running workers
}

// NewPipeline starts a pipeline, which owns the exporters from now on: Close
// shuts them down.
func NewPipeline(exporters []Exporter, opts *PipelineOptions) *Pipeline {
	o := opts.withDefaults()
	p := &Pipeline{timeout: o.CloseTimeout}
	for _, e := range exporters {
		p.workers = append(p.workers, newWorker(e, o))
	}
	p.running.Store(int64(len(p.workers)))
	for _, w := range p.workers {
		if watcher, ok := w.exporter.(Watcher); ok {
			watcher.Watch(p.Stats)
		}
		go w.run(p.ended)
	}
	return p
}

// ended runs at the end of each worker; after the last one it unwatches the
// pipeline.
func (p *Pipeline) ended() {
	if p.running.Add(-1) > 0 {
		return
	}
	for _, w := range p.workers {
		if u, ok := w.exporter.(Unwatcher); ok {
			_ = guard(func() error { u.Unwatch(p.Stats()); return nil })
		}
	}
}

// Emit queues events for every exporter and returns at once, even if an exporter
// is stuck. It does not retain the slice. After Close it does nothing.
func (p *Pipeline) Emit(events ...Event) {
	for _, w := range p.workers {
		w.queue.push(events)
	}
}

// Flush waits until each earlier event was exported, has failed or was dropped.
// If ctx is done first, it returns the error of ctx. If an exporter cannot be
// reached, Flush returns an [*ExportError] after one attempt; the events stay in
// the queue.
func (p *Pipeline) Flush(ctx context.Context) error {
	return p.each(func(w *worker) error { return w.queue.flush(ctx) })
}

// Close stops accepting events, delivers the waiting ones and shuts the exporters down.
// It returns after that, or when ctx is done, or after CloseTimeout, whichever comes
// first. Undelivered events are dropped and counted, and the context's error is joined
// with the errors of the exporters. A later call only waits for the first call.
func (p *Pipeline) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.each(func(w *worker) error { return w.close(ctx) })
}

// each runs f for every worker concurrently and joins the errors.
func (p *Pipeline) each(f func(*worker) error) error {
	errs := make([]error, len(p.workers))
	var all sync.WaitGroup
	for i, w := range p.workers {
		all.Go(func() { errs[i] = f(w) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Dropped returns the number of events that were dropped since the start, over
// all exporters: because a queue was full, or because Close ran out of time.
func (p *Pipeline) Dropped() uint64 {
	var n uint64
	for _, w := range p.workers {
		c, _ := w.queue.counts()
		n += c.dropped
	}
	return n
}

// Stats counts the events of one exporter since the start. At any moment
// Emitted = Exported + Failed + Dropped + Waiting.
type Stats struct {
	Exporter string // its name, such as "ariadne"
	Emitted  uint64 // offered by Emit
	Exported uint64 // delivered
	Failed   uint64 // passed to the exporter, which could not deliver them
	Dropped  uint64 // removed from the queue because it was full, or because Close ran out of time
	Waiting  int    // in the queue or in delivery
}

// Stats returns a consistent count for each exporter, in their order.
func (p *Pipeline) Stats() []Stats {
	all := make([]Stats, len(p.workers))
	for i, w := range p.workers {
		c, waiting := w.queue.counts()
		all[i] = Stats{w.name(), c.emitted, c.exported, c.failed, c.dropped, waiting}
	}
	return all
}

// Lost returns the number of events that were not delivered, for any reason.
func (s Stats) Lost() uint64 { return s.Failed + s.Dropped }

// An ExportError reports failures of an exporter.
type ExportError struct {
	Exporter string // its name, such as "ariadne"
	Op       string // "export", "flush", "close" or "shutdown"
	Lost     int    // events since the last reported error
	Dropped  int    // lost events that were removed from the queue, see [Stats]
	Waiting  int    // events in the queue or in delivery
	Err      error
	Logged   bool // the exporter has written the failure to its own log
}

func (e *ExportError) Error() string {
	return fmt.Sprintf("%s: %s: %s lost, %d waiting: %v", e.Exporter, e.Op, count(e.Lost, "event"), e.Waiting, e.Err)
}

// Unwrap returns the exporter's error.
func (e *ExportError) Unwrap() error { return e.Err }
