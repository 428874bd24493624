package main

import (
	"errors"
	"sync"

	"github.com/agentcompact/compact/trace"
)

// losses gathers what exporters could not do during a run, to be said at its
// end. Exporters add to it from goroutines of their own.
type losses struct {
	mu   sync.Mutex
	errs []error
}

// add keeps what an exporter did not say in a log of its own.
func (l *losses) add(err error) {
	var e *trace.ExportError
	if errors.As(err, &e) && e.Logged && e.Op == "export" && e.Dropped == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// tell says what was gathered, and returns it.
func (l *losses) tell(a *app) (told string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.errs) > 0 {
		a.progress.stop()
	}
	for _, err := range l.errs {
		a.complain("compactctl", "warning: "+err.Error())
		told += err.Error() + "\n"
	}
	l.errs = nil
	return told
}
