package cputime

import (
	"syscall"
	"time"
)

func used() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, ended, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &ended, &kernel, &user) != nil {
		return 0
	}
	return ticks(kernel) + ticks(user)
}

// A tick is 100 ns. (Filetime's own Nanoseconds counts from 1970.)
func ticks(t syscall.Filetime) time.Duration {
	return 100 * time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime))
}
