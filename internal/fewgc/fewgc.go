// Package fewgc makes the tests that import it collect garbage less often than a program
// does: their heaps are small, and collecting them takes a tenth of the time of tests that
// make many short conversations. A GOGC in the environment stays in effect.
package fewgc

import (
	"os"
	"runtime/debug"
)

// percent is how much a heap may grow between two collections.
const percent = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
