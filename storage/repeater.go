package storage

import "context"

// Repeater is an Archive that keeps parts of logs a second time, so that they are read
// with fewer requests. Its Open may read them in place of the log itself, but where the
// context is one of [ReadFirsthand].
type Repeater interface {
	// Unlike compares what is kept of k a second time with k itself, and returns the
	// places of what is not the same. Nothing kept is none.
	Unlike(ctx context.Context, k Key) (places []string, err error)
}

type firsthand struct{}

// ReadFirsthand returns a context under which an Archive reads a log itself, and nothing
// that repeats it ([Repeater]).
func ReadFirsthand(ctx context.Context) context.Context {
	return context.WithValue(ctx, firsthand{}, true)
}

// Firsthand reports whether ctx is one of [ReadFirsthand].
func Firsthand(ctx context.Context) bool { return ctx.Value(firsthand{}) != nil }

// checkRepeats compares what the archive keeps of logs a second time with them.
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
