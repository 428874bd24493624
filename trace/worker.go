package trace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// worker runs the goroutine that calls an exporter.
type worker struct {
	exporter Exporter
	queue    *queue
	opts     PipelineOptions
	teller   *teller

	ctx    context.Context // done when the time is up
	cancel context.CancelFunc

	closing sync.Once
	closer  context.Context // context of Shutdown; set before the queue is closed
	done    chan struct{}   // closed after the exporter is shut down
	err     error           // result of Shutdown; read after done
}

func newWorker(e Exporter, o PipelineOptions) *worker {
	w := &worker{exporter: e, queue: newQueue(o.QueueEvents, o.QueueBytes, o.BatchEvents), opts: o, done: make(chan struct{})}
	w.teller = &teller{to: o.OnError, name: w.name(), counts: w.queue.counts}
	if l, ok := e.(Logging); ok {
		w.teller.logs = l.Logs()
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

func (w *worker) name() string {
	if n, ok := w.exporter.(Named); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", w.exporter)
}

func (w *worker) run(ended func()) {
	defer close(w.done)
	defer ended()
	defer w.cancel()
	var batch []Event
	failures := 0
	for w.queue.wait(w.ctx, w.opts.Linger) {
		batch = w.queue.take(batch[:0])
		done, again := w.deliver(batch)
		if done > 0 {
			failures = 0
		}
		if again {
			failures++
			w.queue.pause(w.ctx, rest(failures))
		}
		clear(batch)
	}
	w.err = w.shutdown()
	w.teller.close()
}

// deliver exports a batch. It returns how many events are settled, and whether
// the others are back in the queue.
func (w *worker) deliver(batch []Event) (done int, again bool) {
	ctx, cancel := context.WithTimeout(w.ctx, w.opts.ExportTimeout)
	defer cancel()
	err := guard(func() error { return w.exporter.Export(ctx, batch) })
	done, lost, again := split(err, len(batch))
	if again && w.queue.settle(w.name(), batch, done, lost, err) {
		w.teller.tell("export", err)
		return done, true
	}
	op := "export"
	if again { // there is no second try
		op, lost = "close", lost+len(batch)-done
	}
	w.queue.finish(len(batch), lost)
	if err != nil {
		w.teller.tell(op, err)
	}
	return len(batch), false
}

func (w *worker) shutdown() error {
	err := guard(func() error { return w.exporter.Shutdown(w.closer) })
	if err != nil {
		w.teller.tell("shutdown", err)
	}
	return err
}

// close ends the worker and waits for its end until ctx is done. The context of
// the first call is the worker's time limit.
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
		var lost int
		if first {
			lost = w.giveUp()
		}
		return errors.Join(&ExportError{Exporter: w.name(), Op: "close", Lost: lost, Err: ctx.Err()}, w.after(grace))
	}
}

// giveUp makes Export return, and drops and counts the waiting events.
func (w *worker) giveUp() int {
	w.cancel()
	return w.queue.abandon()
}

// grace is the time that an exporter has to return after its time ran out, so
// that an exporter that honors its context does not leave its goroutine behind.
const grace = 100 * time.Millisecond

// after returns the result of Shutdown, if it is done within d.
func (w *worker) after(d time.Duration) error {
	select {
	case <-w.done:
		return w.err
	case <-time.After(d):
		return nil
	}
}

// guard turns a panic of an exporter into an error, so that tracing never ends
// the program.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("exporter panicked: %v", r)
		}
	}()
	return f()
}
