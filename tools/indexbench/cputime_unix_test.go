//go:build unix

package indexbench

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that the process has used, which other work on
// the machine changes less than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
