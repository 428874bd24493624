//go:build !unix

package indexbench

import "time"

// cpuTime returns 0, because the processor time is not known here.
func cpuTime() time.Duration { return 0 }
