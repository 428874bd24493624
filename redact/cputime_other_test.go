//go:build !unix

package redact

import "time"

var started = time.Now()

// cpuTime returns the time since the start, where the time that this process
// has computed is not to be had.
func cpuTime() time.Duration { return time.Since(started) }
