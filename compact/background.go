package compact

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// work tracks tasks that can outlive the call that started them. Close ends
// them and waits. The zero value is ready to use.
type work struct {
	mu    sync.Mutex
	n     int
	ended chan struct{} // closed when the last task has ended; nil before the end is requested
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
	if w.n--; w.n == 0 && w.ended != nil {
		close(w.ended)
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

// closing requests the end. It does not cancel running tasks.
func (w *work) closing() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return
	}
	w.ended = make(chan struct{})
	if w.n == 0 {
		close(w.ended)
	}
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

// tasks holds running tasks, so that others can wait for those that have begun. It is safe for
// concurrent use.
type tasks struct {
	mu   sync.Mutex
	ends map[chan struct{}]struct{} // each is closed at the end of its task
}

// begin adds a task, and returns the function that ends it.
func (t *tasks) begin() (done func()) {
	end := make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends == nil {
		t.ends = map[chan struct{}]struct{}{}
	}
	t.ends[end] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.ends, end)
		close(end)
	}
}

// wait returns when the tasks that run now have ended, or with the error of ctx. It does
// not wait for later ones: a busy manager always has some.
func (t *tasks) wait(ctx context.Context) error {
	t.mu.Lock()
	ends := slices.Collect(maps.Keys(t.ends))
	t.mu.Unlock()
	for _, end := range ends {
		select {
		case <-end:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
