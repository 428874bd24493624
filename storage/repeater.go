package storage

import "context"

// A Repeater is an Archive that stores copies of parts of logs, so that reads need fewer
// requests. Its Open may read the copies in place of the log, unless the context comes
// from [ReadFirsthand].
type Repeater interface {
	// Unlike compares the copies of parts of k with k itself, and returns the
	// locations of copies that differ.
	Unlike(ctx context.Context, k Key) (places []string, err error)
}

type firsthand struct{}

// ReadFirsthand returns a context with which an Archive reads the log itself and no copy
// of its parts ([Repeater]).
func ReadFirsthand(ctx context.Context) context.Context {
	return context.WithValue(ctx, firsthand{}, true)
}

// Firsthand reports whether ctx comes from [ReadFirsthand].
func Firsthand(ctx context.Context) bool { return ctx.Value(firsthand{}) != nil }
