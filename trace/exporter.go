package trace

import (
	"context"
	"errors"
	"fmt"
)

// ErrShutdown is returned by an [Exporter] that is used after Shutdown.
var ErrShutdown = errors.New("exporter is shut down")

// An Exporter takes events out of the process. A [Pipeline] owns it: all its
// methods are called from one goroutine, never two at once.
type Exporter interface {
	// Export delivers events, in the order in which they were emitted. Its rules
	// are: it
	//   - may take some time, but returns soon after ctx is done;
	//   - must not modify the events, nor keep the slice after it returned (it
	//     may keep the strings, which are immutable);
	//   - is never called without events, nor after Shutdown. If a caller breaks
	//     this rule, Export returns nil for no events, and ErrShutdown after
	//     Shutdown.
	//
	// The pipeline offers an event once, unless a [*RetryError] reports that the
	// event was never sent. Any other error means that all events were lost, or
	// the number of events in a [*LostError].
	Export(ctx context.Context, events []Event) error

	// Shutdown delivers the events that the exporter still holds, releases its
	// resources, and returns soon after ctx is done, even if ctx is done from the
	// start. A second call does nothing and returns nil.
	Shutdown(ctx context.Context) error
}

// A LostError is returned by [Exporter.Export] when only some of the events
// could not be delivered.
type LostError struct {
	Lost int   // number of lost events
	Err  error // the cause
}

func (e *LostError) Error() string { return fmt.Sprintf("%d events lost: %v", e.Lost, e.Err) }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// Named is an [Exporter] with a name for statistics and errors. For an exporter
// without this method, the name is its type.
type Named interface {
	Name() string // short and lower-case, such as "ariadne"; always the same
}

// Watcher is an [Exporter] that reads the counts of its pipeline, including its
// own.
type Watcher interface {
	// Watch is called once, before any other method. stats may be called at any
	// time, from any goroutine, also after Shutdown.
	Watch(stats func() []Stats)
}

// Unwatcher is a [Watcher] that is notified of the end of the pipeline.
type Unwatcher interface {
	Watcher
	// Unwatch is called once with the final counts, from any goroutine, after all
	// exporters of the pipeline are shut down. The exporter needs stats no longer.
	Unwatch(last []Stats)
}

// Logging is an [Exporter] with a log of its own, to which it writes its
// failures.
type Logging interface {
	Logs() bool
}
