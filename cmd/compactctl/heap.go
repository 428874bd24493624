package main

import (
	"runtime"
	"runtime/debug"

	"github.com/agentcompact/compact/internal/firstgc"
)

// ordinary is the default of Go, in percent of garbage.
const ordinary = 100

// collectLater delays the first garbage collection, unless the user has set GOGC: a command
// that reads a usual session needs little more than the 16 MB of [firstgc], and would spend a
// fifth of its time on collections. After the first one, the percentage is the default.
func collectLater() {
	if firstgc.Delay() {
		runtime.AddCleanup(new([16]byte), func(struct{}) { endDelay() }, struct{}{})
	}
}

// endDelay keeps the setting for a large file.
func endDelay() {
	if debug.SetGCPercent(ordinary) == sparingly {
		debug.SetGCPercent(sparingly)
	}
}
