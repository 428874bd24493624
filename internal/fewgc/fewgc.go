// Package fewgc makes the tests that import it collect garbage less often than usual:
// with the usual setting, tests with many short conversations on small heaps spend a
// tenth of their time on garbage collection. A GOGC in the environment stays in effect.
package fewgc

import (
	"os"
	"runtime/debug"
)

// percent is the growth of the heap between two collections.
const percent = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
