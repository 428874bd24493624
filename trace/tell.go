package trace

import (
	"sync"
	"time"
)

// quiet is the minimum time between two reports.
const quiet = 10 * time.Second

// teller reports failures to [PipelineOptions.OnError]: the first one at once,
// later ones together at most every 10 s, and the last ones when the pipeline
// is closed.
type teller struct {
	to     func(error)
	counts func() (since counters, waiting int)
	name   string
	logs   bool // the exporter has its own log

	mu    sync.Mutex
	held  *ExportError // the latest failure that was not reported
	last  time.Time
	timer *time.Timer
	told  counters // lost events that were reported
}

// tell reports a failure now or keeps it for later.
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

// close reports the kept failure.
func (t *teller) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flush()
}

// flush reports the kept failure; the caller holds mu.
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
	_ = guard(func() error { t.to(err); return nil }) // a panic of the handler is contained
}
