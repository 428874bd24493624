package trace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// worker is the one goroutine that calls an exporter.
type worker struct {
	exporter Exporter
	queue    *queue
	opts     PipelineOptions

	ctx    context.Context // done when there is no time left
	cancel context.CancelFunc

	closing sync.Once
	closer  context.Context // what Shutdown is called with; set before the queue is closed
	done    chan struct{}   // closed when the exporter is shut down
	err     error           // what Shutdown returned; read after done
}

func newWorker(e Exporter, o PipelineOptions) *worker {
	w := &worker{exporter: e, queue: newQueue(o.QueueEvents, o.QueueBytes, o.BatchEvents), opts: o, done: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (w *worker) name() string { return fmt.Sprintf("%T", w.exporter) }

func (w *worker) run() {
	defer close(w.done)
	defer w.cancel()
	var batch []Event
	for w.queue.wait(w.ctx, w.opts.Linger) {
		batch = w.queue.take(batch[:0])
		err := w.export(batch)
		w.queue.finish(len(batch), lost(err, len(batch)))
		clear(batch)
	}
	w.err = w.shutdown()
}

func (w *worker) export(batch []Event) error {
	ctx, cancel := context.WithTimeout(w.ctx, w.opts.ExportTimeout)
	defer cancel()
	err := guard(func() error { return w.exporter.Export(ctx, batch) })
	w.report("export", lost(err, len(batch)), err)
	return err
}

func (w *worker) shutdown() error {
	err := guard(func() error { return w.exporter.Shutdown(w.closer) })
	w.report("shutdown", 0, err)
	return err
}

func (w *worker) report(op string, lost int, err error) {
	if err != nil {
		w.opts.OnError(&ExportError{Exporter: w.name(), Op: op, Lost: lost, Err: err})
	}
}

// close ends the worker, and waits for that until ctx is done. The first call
// decides how much time the worker has.
func (w *worker) close(ctx context.Context) error {
	first := false
	w.closing.Do(func() {
		first = true
		w.closer = ctx
		w.queue.close()
	})
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		if first {
			w.giveUp()
		}
		return errors.Join(ctx.Err(), w.after(grace))
	}
}

// giveUp makes Export return, and counts what it will never see.
func (w *worker) giveUp() {
	w.cancel()
	w.queue.abandon()
}

// grace is how long an exporter that ran out of time gets to return, so that
// one which honours its context doesn't leave its goroutine behind.
const grace = 100 * time.Millisecond

// after returns what Shutdown did, if it is done within d.
func (w *worker) after(d time.Duration) error {
	select {
	case <-w.done:
		return w.err
	case <-time.After(d):
		return nil
	}
}

// lost returns how many of n events an export that returned err did not
// deliver.
func lost(err error, n int) int {
	var some *LostError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &some):
		return min(max(some.Lost, 0), n)
	}
	return n
}

// guard turns a panic of an exporter into an error: tracing never takes the
// program down.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("exporter panicked: %v", r)
		}
	}()
	return f()
}
