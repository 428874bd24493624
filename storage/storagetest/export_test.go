package storagetest

import "time"

// Impatient shortens the time limits for archives that are known to hang.
func Impatient() { shortly, patience = 10*time.Millisecond, time.Second }
