package trace

import (
	"sync"
	"time"
)

// quiet is how long a teller says nothing after it has said something.
const quiet = 10 * time.Second

// teller tells [PipelineOptions.OnError] of failures: of the first at once, then
// of what came together every 10 s, and of the rest when the pipeline is closed.
type teller struct {
	to     func(error)
	counts func() (since counters, waiting int)
	name   string
	logs   bool // the exporter has a log of its own

	mu    sync.Mutex
	held  *ExportError // the latest that was not told
	last  time.Time
	timer *time.Timer
	told  counters // of the lost events
}

// tell tells of a failure, or keeps it for later.
func (t *teller) tell(op string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = &ExportError{Exporter: t.name, Op: op, Err: err, Logged: t.logs}
	wait := quiet - time.Since(t.last)
	switch {
	case t.last.IsZero() || wait <= 0:
		t.flush()
	case t.timer == nil:
		t.timer = time.AfterFunc(wait, t.close)
	}
}

// close tells what was kept.
func (t *teller) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flush()
}

// flush tells what was kept; the caller holds mu.
func (t *teller) flush() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	if t.held == nil {
		return
	}
	now, waiting := t.counts()
	t.held.Dropped = int(now.dropped - t.told.dropped)
	t.held.Lost, t.held.Waiting = int(now.failed-t.told.failed)+t.held.Dropped, waiting
	t.told, t.last = now, time.Now()
	err := t.held
	t.held = nil
	_ = guard(func() error { t.to(err); return nil }) // a handler that panics hurts nobody
}
