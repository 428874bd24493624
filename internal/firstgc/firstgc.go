// Package firstgc makes a program that imports it collect garbage for the first time at a
// heap of 16 MB, not of 4 MB, unless the user has set GOGC. The setting is made before most
// packages are initialized, because their tables together need 4 MB: without it, a command
// would spend a fifth of its start on a collection. The program chooses the percentage for
// later collections itself.
package firstgc

import (
	"os"
	"runtime/debug"
)

// Late is the percentage of garbage before the first collection.
const Late = 400

func init() { Delay() }

// Delay delays the next collection, unless the user has set GOGC. It returns whether it did.
func Delay() bool {
	if os.Getenv("GOGC") != "" {
		return false
	}
	debug.SetGCPercent(Late)
	return true
}
