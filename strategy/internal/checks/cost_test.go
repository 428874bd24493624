package checks

import (
	"runtime"
	"strings"
	"testing"
)

// A command line of many commands is split once, not once for each command.
func TestManyCommandsCostLinearMemory(t *testing.T) {
	allocated := func(n int) uint64 {
		cmd := strings.Repeat("cd a; ", n) + "go test ./..."
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if at, ok := At(cmd); !ok || !strings.HasPrefix(cmd[at:], " go test") {
			t.Fatalf("the only check of %d commands is at %d (%v)", n, at, ok)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10)
	if small, large := allocated(250), allocated(1_000); large > 8*small {
		t.Errorf("%d bytes for 250 commands, %d for 1,000, want at most 8 times as many", small, large)
	}
}
