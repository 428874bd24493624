package compact

import (
	"context"
	"sync"
)

// work tracks tasks that can outlive the call that started them. Close ends
// them and waits. The zero value is ready to use.
type work struct {
	mu    sync.Mutex
	n     int
	ended chan struct{} // closed when the last task has ended; nil before the end is requested
	idle  chan struct{} // closed when no task runs; nil if nobody waits for that
	stops map[*context.CancelFunc]struct{}
}

// begin counts a task that [work.end] waits for. It reports false if the end
// was requested: the task must not begin.
func (w *work) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return false
	}
	w.n++
	return true
}

// add counts one more task. The caller is part of a counted one.
func (w *work) add() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
}

func (w *work) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n--
	if w.n == 0 && w.ended != nil {
		close(w.ended)
	}
	if w.n == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// wait returns when no task runs, or with the error of ctx.
func (w *work) wait(ctx context.Context) error {
	w.mu.Lock()
	if w.n > 0 && w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start runs f concurrently, and reports false if the end was requested: f does
// not run then. The context of f has the values of ctx, not its deadline, and is
// canceled by [work.end] or when f returns.
func (w *work) start(ctx context.Context, f func(context.Context)) bool {
	if !w.begin() {
		return false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.mu.Lock()
	if w.ended != nil {
		cancel()
	}
	if w.stops == nil {
		w.stops = map[*context.CancelFunc]struct{}{}
	}
	w.stops[&cancel] = struct{}{}
	w.mu.Unlock()
	go func() {
		defer w.done()
		defer func() {
			w.mu.Lock()
			delete(w.stops, &cancel)
			w.mu.Unlock()
			cancel()
		}()
		f(ctx)
	}()
	return true
}

// closing requests the end, and reports whether this was the first request. It
// does not cancel running tasks.
func (w *work) closing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return false
	}
	w.ended = make(chan struct{})
	if w.n == 0 {
		close(w.ended)
	}
	return true
}

// end cancels all started tasks, and waits until all have ended or ctx is done.
func (w *work) end(ctx context.Context) error {
	w.closing()
	w.mu.Lock()
	for stop := range w.stops {
		(*stop)()
	}
	w.mu.Unlock()
	select {
	case <-w.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
