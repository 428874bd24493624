//go:build !unix && !windows

package cputime

import "time"

var started = time.Now()

// used returns the time since the start, because this system reports nothing
// better.
func used() time.Duration { return time.Since(started) }
