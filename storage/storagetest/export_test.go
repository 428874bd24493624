package storagetest

import "time"

// Impatient is for archives that are known to hang.
func Impatient() { shortly, patience = 10*time.Millisecond, time.Second }
