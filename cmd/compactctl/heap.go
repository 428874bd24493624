package main

import (
	"runtime"
	"runtime/debug"

	"github.com/agentcompact/compact/internal/firstgc"
)

// ordinary is Go's default of GOGC, in percent.
const ordinary = 100

// collectLater delays the first garbage collection, unless the user has set GOGC: a command
// that reads a usual session needs little more than the 16 MB of [firstgc], and would spend a
// fifth of its time on collections. After the first one, Go's default applies.
func collectLater() {
	if firstgc.Delay() {
		runtime.AddCleanup(new([16]byte), func(struct{}) { endDelay() }, struct{}{})
	}
}

// endDelay restores Go's default, unless the command has read a large file.
func endDelay() {
	if debug.SetGCPercent(ordinary) == sparingly {
		debug.SetGCPercent(sparingly)
	}
}
