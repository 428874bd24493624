package compact

import (
	"context"
	"sync"
)

// work is what may go on after the call that began it has returned: Close ends
// it, and waits for it. The zero value is ready.
type work struct {
	mu    sync.Mutex
	n     int
	ended chan struct{} // closed when nothing goes on any more; nil before the end is asked for
	stops map[*context.CancelFunc]struct{}
}

// begin counts something that [work.end] waits for. It reports false when the
// end has been asked for: then it must not begin.
func (w *work) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended != nil {
		return false
	}
	w.n++
	return true
}

// add counts one more. The caller has one that is counted already.
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

// start runs f beside the call that ctx is of. The context that f gets has the
// values of ctx, and lasts until f returns or the end is asked for.
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

// closing asks for the end, and reports whether nobody has before.
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

// end asks all to end that start has begun, and waits until nothing goes on
// any more, or until ctx ends.
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
