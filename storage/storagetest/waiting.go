package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
)

// HangingOpener returns an archive on a new and empty place, and hang, which
// makes the archive's next write hang in the layer below. hang returns a
// channel that is closed when a call hangs, and a function that releases it.
type HangingOpener func(t testing.TB) (a storage.Archive, hang func() (there <-chan struct{}, release func()))

const waitingPromise = "A call waits for another one no longer than its context lasts; then the error wraps the context's."

// RunHanging tests that a hanging call delays other calls only until their
// contexts are done. It is for adapters that do I/O.
func RunHanging(t *testing.T, open HangingOpener) {
	t.Helper()
	for _, c := range hangingCalls {
		t.Run(c.name, func(t *testing.T) {
			if err := checkHanging(t, open, c); err != nil {
				t.Errorf("broken promise: %s\n%v", waitingPromise, err)
			}
		})
	}
}

// CheckHanging runs the tests of RunHanging, and returns the failures instead of
// reporting them.
func CheckHanging(t testing.TB, open HangingOpener) (out []Failure) {
	t.Helper()
	for _, c := range hangingCalls {
		if err := checkHanging(t, open, c); err != nil {
			out = append(out, Failure{c.name, waitingPromise, err})
		}
	}
	return out
}

// archiveCall is any call of an archive.
type archiveCall struct {
	name string
	do   func(ctx context.Context, a storage.Archive) error
}

var hangingCalls = []archiveCall{
	{"CreateHangs", func(ctx context.Context, a storage.Archive) error { return a.Create(ctx, key("s/file"), blob(1, 50)) }},
	{"AppendHangs", func(ctx context.Context, a storage.Archive) error { return a.Append(ctx, key("s/log"), 0, blob(1, 50)) }},
}

var waitingCalls = []archiveCall{
	{"Create of the same key", hangingCalls[0].do},
	{"Append to the same log", hangingCalls[1].do},
	{"Create", func(ctx context.Context, a storage.Archive) error { return a.Create(ctx, key("t/file"), blob(2, 50)) }},
	{"Append", func(ctx context.Context, a storage.Archive) error { return a.Append(ctx, key("t/log"), 0, blob(2, 50)) }},
	{"Open", func(ctx context.Context, a storage.Archive) error {
		r, err := a.Open(ctx, key("s/file"), 0, -1)
		if err != nil {
			return err
		}
		return r.Close()
	}},
	{"List", func(ctx context.Context, a storage.Archive) error {
		for _, err := range a.List(ctx, storage.Key{}) {
			return err
		}
		return nil
	}},
	{"Remove", func(ctx context.Context, a storage.Archive) error {
		if r, ok := a.(storage.Remover); ok {
			return r.Remove(ctx, key("u/file"))
		}
		return nil
	}},
	{"Kept", func(ctx context.Context, a storage.Archive) error {
		if k, ok := a.(storage.Keeper); ok {
			return k.Kept(ctx, key("s/file"))
		}
		return nil
	}},
}

// patience is the maximum time for a call with the context timeout shortly:
// long enough for a slow machine, and shorter than any adapter's own timeouts.
var shortly, patience = 100 * time.Millisecond, 10 * time.Second

func checkHanging(t testing.TB, open HangingOpener, first archiveCall) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), caseTimeout)
	defer cancel()
	a, hang := open(t)
	there, release := hang()
	ended := make(chan error, 1)
	go func() { ended <- first.do(ctx, a) }()
	defer func() { // nothing may continue after the test
		release()
		cancel()
		<-ended
	}()
	select {
	case <-there:
	case <-ctx.Done():
		return fmt.Errorf("%s never came to where it hangs", first.name)
	}
	var errs []error
	for _, c := range waitingCalls {
		errs = append(errs, c.within(ctx, a))
	}
	return errors.Join(errs...)
}

// within makes a call with the context timeout shortly.
func (c archiveCall) within(ctx context.Context, a storage.Archive) error {
	ctx, cancel := context.WithTimeout(ctx, shortly)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- c.do(ctx, a) }()
	select {
	case err := <-ended:
		return c.judge(err)
	case <-time.After(patience):
		return fmt.Errorf("%s did not return: its context ended %s before", c.name, patience-shortly)
	}
}

// judge returns an error for a wrong outcome of a call. Success and ErrNotExist
// are right, too.
func (c archiveCall) judge(err error) error {
	if err == nil || errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %v does not wrap the context's error", c.name, err)
	}
	if err := typed(err); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}
