// Package cputime measures the processor time of this process, for benchmarks. Other load
// on the machine changes it little, but makes the time of a clock nearly useless.
package cputime

import "time"

// Used returns the processor time of this process so far, of all its threads, the garbage
// collector's included. Only differences mean something.
func Used() time.Duration { return used() }
