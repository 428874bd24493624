//go:build !unix

package indexbench

import "time"

// cpuTime is not known.
func cpuTime() time.Duration { return 0 }
