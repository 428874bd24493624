package main

import (
	"errors"
	"sync"

	"github.com/agentcompact/compact/trace"
)

// losses collects the errors of exporters during a run, for a report at its end.
// Exporters add to it from their own goroutines.
type losses struct {
	mu   sync.Mutex
	errs []error
}

// add stores an error that the exporter did not log itself.
func (l *losses) add(err error) {
	var e *trace.ExportError
	if errors.As(err, &e) && e.Logged && e.Op == "export" && e.Dropped == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// tell prints the collected errors, and returns the text.
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
