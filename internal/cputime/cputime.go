// Package cputime measures the processor time of this process, for benchmarks. Other load
// on the machine changes it little, unlike the elapsed time.
package cputime

import "time"

// Used returns the processor time of this process so far, over all its threads, including
// the garbage collector's. Only differences between two calls are meaningful.
func Used() time.Duration { return used() }
