// Package cputime tells how long this process has computed, for benchmarks: what else the
// machine does stretches it little, where a clock says next to nothing.
package cputime

import "time"

// Used returns the processor time of this process so far, of all its threads, the garbage
// collector's included. Only differences mean something.
func Used() time.Duration { return used() }
