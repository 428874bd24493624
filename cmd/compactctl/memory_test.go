package main

import (
	"io"
	"math"
	"runtime/debug"
	"testing"

	"github.com/agentcompact/compact/internal/firstgc"
)

// A large file limits the memory of its run by its size, several files by their
// total size; a small file sets no limit, and a limit of the user stays.
func TestLargeFilesBoundTheMemoryOfTheirRun(t *testing.T) {
	percent := debug.SetGCPercent(100)
	before := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
	})
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	t.Setenv("GOMEMLIMIT", "")
	a := newApp(nil, io.Discard, io.Discard)
	if a.spare(large); limit() != math.MaxInt64 {
		t.Errorf("a small file bounds memory by %d", limit())
	}
	if a.spare(200 << 20); limit() != 692<<20 || debug.SetGCPercent(100) != sparingly {
		t.Errorf("a file of 200 MB bounds memory by %d", limit())
	}
	if a.spare(100 << 20); limit() != 1022<<20 {
		t.Errorf("a second file of 100 MB bounds memory by %d", limit())
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	if a.spare(100 << 20); limit() != 1022<<20 {
		t.Errorf("the user's limit is now %d", limit())
	}
}

// Only the first collection is late. A setting for a large file stays, and so does a
// setting of the user.
func TestFirstCollectionIsLate(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "50")
	if firstgc.Delay() || debug.SetGCPercent(100) != 100 {
		t.Error("the percentage of the user is replaced")
	}
	t.Setenv("GOGC", "")
	if !firstgc.Delay() || debug.SetGCPercent(400) != 400 {
		t.Error("the first collection is not late")
	}
	if endDelay(); debug.SetGCPercent(sparingly) != 100 {
		t.Error("the collections after the first are late, too")
	}
	if endDelay(); debug.SetGCPercent(100) != sparingly {
		t.Error("the setting for a large file is lost")
	}
}
