package fewgc

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestGarbageIsCollectedLessOften(t *testing.T) {
	if os.Getenv("GOGC") != "" {
		t.Skip("NOT TESTED: GOGC is set; run it without")
	}
	got := debug.SetGCPercent(percent)
	if got != percent {
		t.Errorf("the heap may grow by %d %%, want %d %%", got, percent)
	}
}
