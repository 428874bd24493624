package trace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// PipelineOptions changes what a [Pipeline] does. Nil, and zero fields, mean
// the defaults.
type PipelineOptions struct {
	// QueueEvents is how many events may wait for one exporter. Default 16384.
	QueueEvents int
	// QueueBytes is how much memory they may take, per exporter: what they
	// hold and their place in the queue. Default 16 MiB, which is more than a
	// second of ten thousand usual events. One event is taken whatever its
	// size.
	QueueBytes int
	// BatchEvents is how many events an exporter gets at once, at most.
	// Default 512.
	BatchEvents int
	// Linger is how long an event waits for others to share its batch.
	// Default 50 ms.
	Linger time.Duration
	// ExportTimeout is the deadline of one Export. Default 10 s.
	ExportTimeout time.Duration
	// CloseTimeout is how long Close waits, whatever its context allows.
	// Default 5 s.
	CloseTimeout time.Duration
	// OnError is told of what an exporter could not do, as an [*ExportError]: of
	// the first failure at once, then of all that came together at most every
	// 10 s, and of the rest at Close. It is never called twice at once for one
	// exporter. Nil: nobody is told. It must not call the pipeline's Flush or
	// Close.
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

// A Pipeline hands events to exporters without making anybody wait. Each
// exporter has a bounded queue and a goroutine of its own, so that one which is
// stuck does not hold up the others; when a queue is full the oldest events
// are dropped and counted.
//
// All methods may be called concurrently. A Pipeline without exporters does
// nothing and needs no Close.
type Pipeline struct {
	workers []*worker
	timeout time.Duration // of Close
	running atomic.Int64  // workers
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

// ended is called at the end of each worker; the last one's is the pipeline's.
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

// Emit queues events for every exporter and returns at once, whatever the
// exporters are doing. The slice is the caller's again when it returns. After
// Close it does nothing.
func (p *Pipeline) Emit(events ...Event) {
	for _, w := range p.workers {
		w.queue.push(events)
	}
}

// Flush waits until every event that was emitted before it has been exported,
// has failed or was dropped, or until ctx is done, whose error it then returns.
// Where an exporter can't be reached it returns an [*ExportError] after one try;
// the events wait for the next.
func (p *Pipeline) Flush(ctx context.Context) error {
	return p.each(func(w *worker) error { return w.queue.flush(ctx) })
}

// Close stops taking events, delivers those that wait and shuts the exporters
// down. It returns when that is done, when ctx is, or after CloseTimeout,
// whichever comes first; what could not be delivered until then is dropped and
// counted, and the context's error is returned with those of the exporters.
// Calling it again only waits for the first call to be done.
func (p *Pipeline) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.each(func(w *worker) error { return w.close(ctx) })
}

// each runs f for every worker at once and joins what they return.
func (p *Pipeline) each(f func(*worker) error) error {
	errs := make([]error, len(p.workers))
	var all sync.WaitGroup
	for i, w := range p.workers {
		all.Go(func() { errs[i] = f(w) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Dropped returns how many events were dropped since the start, over all
// exporters: because a queue was full, or because Close ran out of time.
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
	Failed   uint64 // given to the exporter, which could not deliver them
	Dropped  uint64 // never given to the exporter
	Waiting  int    // in the queue or under way
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

// Lost is how many events did not get to their place, for whatever reason.
func (s Stats) Lost() uint64 { return s.Failed + s.Dropped }

// An ExportError says what an exporter could not do.
type ExportError struct {
	Exporter string // its name, such as "ariadne"
	Op       string // "export", "flush", "close" or "shutdown"
	Lost     int    // events, since the last error that was told
	Dropped  int    // of these, the ones that the exporter never saw: its queue was full
	Waiting  int    // events that are in the queue or under way
	Err      error
	Logged   bool // the exporter has written it to a log of its own
}

func (e *ExportError) Error() string {
	return fmt.Sprintf("%s: %s: %s lost, %d waiting: %v", e.Exporter, e.Op, count(e.Lost, "event"), e.Waiting, e.Err)
}

// Unwrap returns the exporter's error.
func (e *ExportError) Unwrap() error { return e.Err }
