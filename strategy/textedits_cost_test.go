package strategy

import (
	"runtime"
	"strings"
	"testing"
)

// A message with edits is copied a fixed number of times, whatever the length of its blocks and
// however often the program reports that it applied an edit.
func TestEditsInTextCostLinearMemory(t *testing.T) {
	for name, say := range map[string]func(n int) (text, said string){
		"a long block": func(n int) (string, string) {
			return "a.py\n<<<<<<< SEARCH\n" + strings.Repeat("a line\n", n) + "=======\nb\n>>>>>>> REPLACE\n", appliedHead + "a.py"
		},
		"said often": func(n int) (string, string) {
			return "a.py\n" + strings.Repeat("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", n/4), strings.Repeat(appliedHead+"a.py\n", n/4)
		},
	} {
		allocated := func(n int) uint64 {
			text, said := say(n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if calls := callsOf(textEdits(text), said); len(calls) != 1 {
				t.Fatalf("%s: %d calls, want 1", name, len(calls))
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		allocated(100)
		if small, large := allocated(5_000), allocated(20_000); large > 8*small {
			t.Errorf("%s: %d bytes for 5,000 lines, %d for 20,000, want at most 8 times as many", name, small, large)
		}
	}
}

// The command of a call is read once for the lines of its result, not once for each line.
func TestErrorsOfALongCommandCostLinearMemory(t *testing.T) {
	allocated := func(n int) uint64 {
		c := Call{Tool: "bash", Args: []Arg{{"command", strings.Repeat("./run a; ", n)}}, Result: strings.Repeat("a.go:1:2: error: it is broken\n", n)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if c.ErrorLine() == "" {
			t.Fatal("no line states the error")
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10)
	if small, large := allocated(150), allocated(600); large > 8*small {
		t.Errorf("%d bytes for 150 commands and lines, %d for 600, want at most 8 times as many", small, large)
	}
}
