package policy_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/agentcompact/compact/policy"
)

// The code copies a command a fixed number of times, for every content. In an earlier
// version, twice as many comments took four times the memory.
func TestReadingACommandTakesLinearMemory(t *testing.T) {
	for _, of := range []string{"#\n", " # a\n", "\n", "cd a\n", "cat <<A >b\nx\nA\n", "A=1;", "\\\n", "⏎", "\u200b"} {
		allocated := func(n int) uint64 {
			args, err := json.Marshal(map[string]string{"command": strings.Repeat(of, n/len(of)) + "make"})
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			maskAll(t, policy.Mask{Form: policy.FormCall}, false, ran(string(args), "done")...)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		allocated(100)
		if small, large := allocated(50_000), allocated(200_000); large > 8*small {
			t.Errorf("%q: %d bytes for a command of 50 kB, %d for one of 200 kB, want at most 8 times as many", of, small, large)
		}
	}
}
