package storage

import "context"

// A Repeater is an Archive that keeps copies of parts of logs, so that reading takes
// fewer requests. Its Open may read the copies in place of the log, unless the context
// comes from [ReadFirsthand].
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

// checkRepeats compares the archive's copies of parts of logs with the logs.
func (v *verifier) checkRepeats(ctx context.Context) error {
	for name := range v.there {
		if !isLog(name) {
			continue
		}
		if err := v.checkRepeatsOf(ctx, name, v.dir.child(name)); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) checkRepeatsOf(ctx context.Context, name string, k Key) error {
	r, ok := v.a.(Repeater)
	if !ok {
		return nil
	}
	places, err := r.Unlike(ctx, k)
	for _, place := range places {
		v.problem(Changed, name, 0, "%s repeats a part of it, and holds something else", place)
	}
	if err != nil {
		return v.unreadable(ctx, name, err)
	}
	return nil
}
