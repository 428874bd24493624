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
	// Export delivers events, in the order in which they were emitted. It
	//   - may take its time, but returns soon after ctx is done;
	//   - must not modify the events, nor keep the slice after it returned
	//     (the strings may be kept, they are immutable);
	//   - is never called with no events, nor after Shutdown; if it is all the
	//     same, it returns nil for the first and ErrShutdown for the second.
	//
	// Events are offered once, except those that a [*RetryError] reports as never
	// sent. Any other error means that all events were lost, or as many as a
	// [*LostError] states.
	Export(ctx context.Context, events []Event) error

	// Shutdown delivers what the exporter still holds, releases what it has
	// opened and returns soon after ctx is done, also when ctx is done from the
	// start. A second call does nothing and returns nil.
	Shutdown(ctx context.Context) error
}

// A LostError is returned by [Exporter.Export] when only some of the events
// could not be delivered.
type LostError struct {
	Lost int   // how many
	Err  error // why
}

func (e *LostError) Error() string { return fmt.Sprintf("%d events lost: %v", e.Lost, e.Err) }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// Named is an [Exporter] with a name for statistics and errors. Without it, its
// type is the name.
type Named interface {
	Name() string // short and lower-case, such as "ariadne"; always the same
}

// Watcher is an [Exporter] that reads the counts of its pipeline, its own
// included.
type Watcher interface {
	// Watch is called once, before anything else. stats may be called at any time,
	// from any goroutine, also after Shutdown.
	Watch(stats func() []Stats)
}

// Unwatcher is a [Watcher] that is notified of the end of the pipeline.
type Unwatcher interface {
	Watcher
	// Unwatch is called once, from any goroutine, after all exporters of the pipeline
	// are shut down, with the final counts. stats is not needed any more.
	Unwatch(last []Stats)
}

// Logging is an [Exporter] that writes its failures to a log of its own.
type Logging interface {
	Logs() bool
}
