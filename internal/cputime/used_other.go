//go:build !unix && !windows

package cputime

import "time"

var started = time.Now()

// used is the time since the start: better is not to be had.
func used() time.Duration { return time.Since(started) }
