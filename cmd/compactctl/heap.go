package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// The collector runs for the first time at a heap of 16 MB, and not at 4 MB: a command
// that reads a usual session needs little more than 4 MB, and would otherwise spend a
// fifth of its time on collections. After the first collection, the percentage is the
// default of Go.
const (
	ordinary = 100 // percent of garbage
	late     = 4 * ordinary
)

// collectLater delays the first garbage collection, unless the user has set GOGC.
func collectLater() {
	if delay() {
		runtime.AddCleanup(new([16]byte), func(struct{}) { endDelay() }, struct{}{})
	}
}

func delay() bool {
	if os.Getenv("GOGC") != "" {
		return false
	}
	debug.SetGCPercent(late)
	return true
}

// endDelay keeps the setting for a large file.
func endDelay() {
	if debug.SetGCPercent(ordinary) == sparingly {
		debug.SetGCPercent(sparingly)
	}
}
