package tracetest

import (
	"context"
	"slices"
	"sync"

	"github.com/agentcompact/compact/trace"
)

// Recorder is an exporter that keeps events in memory. Its zero value is ready
// to use. Unlike for other exporters, all methods may be called concurrently.
// Set the fields before the first use.
type Recorder struct {
	// Err is returned by Export, after it has kept the events. Default nil.
	Err error
	// Stuck, if not nil, blocks Export until it is closed, even after the context is
	// done: an exporter that breaks its contract.
	Stuck chan struct{}

	mu       sync.Mutex
	events   []trace.Event
	exports  int
	shutdown int
}

var _ trace.Exporter = (*Recorder)(nil)

// Export keeps the events.
func (r *Recorder) Export(_ context.Context, events []trace.Event) error {
	if r.Stuck != nil {
		<-r.Stuck
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shutdown > 0 {
		return trace.ErrShutdown
	}
	if len(events) == 0 {
		return nil
	}
	r.exports++
	r.events = append(r.events, events...)
	return r.Err
}

// Shutdown ends the recording. The events can still be read.
func (r *Recorder) Shutdown(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shutdown++
	return nil
}

// Events returns the events exported so far, in order.
func (r *Recorder) Events() []trace.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Named returns the events with a name.
func (r *Recorder) Named(name string) []trace.Event {
	return slices.DeleteFunc(r.Events(), func(e trace.Event) bool { return e.Name != name })
}

// Names returns the names of the events, in order.
func (r *Recorder) Names() []string {
	var names []string
	for _, e := range r.Events() {
		names = append(names, e.Name)
	}
	return names
}

// Exports returns the number of exported batches.
func (r *Recorder) Exports() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.exports
}

// Shutdowns returns how often Shutdown was called.
func (r *Recorder) Shutdowns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shutdown
}
