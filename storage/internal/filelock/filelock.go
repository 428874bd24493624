// Package filelock locks files against other processes, and against other
// descriptors in the same process. A lock ends when the file is closed or the
// process dies.
package filelock

import (
	"context"
	"os"
	"time"
)

// Lock waits for the lock on f until ctx is done.
func Lock(ctx context.Context, f *os.File) error {
	const shortest, longest = 50 * time.Microsecond, 5 * time.Millisecond
	for wait := shortest; ; wait = min(2*wait, longest) {
		ok, err := TryLock(f)
		if ok || err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
