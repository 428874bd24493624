// Package planted plants faults in the engine and in the archive, and shows
// that the tests detect each of them.
package planted

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

// A fault is one wrong line in one file, or in two.
type fault struct {
	name, file, old, wrong string
	also                   *fault
}

// unchecked switches off the engine's own check of a stage's result, so that
// the independent judge finds the faults.
var unchecked = fault{file: "internal/reduce/check.go", old: `detail != "" {`, wrong: `detail == "\x00" {`}

var faults = []fault{
	{"the anchor is lost", "internal/reduce/conversation.go", `take(0, e.Cut.Recent, func(i int) bool { return !pinned[i] })`, ``, nil},
	{"pinned rounds are lost", "internal/reduce/conversation.go", `take(0, front, func(i int) bool { return pinned[i] })`, ``, nil},
	{"pinned rounds may be summarized", "policy/partition.go", `case pinned:`, `case false:`, nil},
	{"the last user message may be summarized", "policy/partition.go", `case recent[r] && !ours, v.holdsAnchor(r):`, `case recent[r] && !ours:`, nil},
	{"visible results are masked", "policy/mask.go", `visible[v.round[i]] || v.Pinned[i]`, `visible[v.round[i]] && false || v.Pinned[i]`, nil},
	{"pinned results are masked", "policy/mask.go", `visible[v.round[i]] || v.Pinned[i]`, `visible[v.round[i]]`, nil},
	{"a placeholder may be larger than the result", "policy/placeholder.go", `tokens = v.Tokens[i] - v.Cost.Message(m)`, `tokens = v.Tokens[i] - v.Cost.Message(m) + 1000`, nil},
	{"a placeholder states a wrong size", "policy/placeholder.go", `Chars: o.Chars, Tokens`, `Chars: o.Chars + 1, Tokens`, nil},
	{"a call is separated from its result", "message/round.go", `	if !answers {`, `	if !answers || i%2 == 0 {`, nil},
	{"a compaction comes before it is due", "policy/budget.go", `last+b.Trigger-b.Target)), last+1)`, `0)), 0)`, nil},
	{"decisions are not noted", "internal/reduce/conversation.go", `if src >= 0 && e.Decision >= d.fates.at(src).decision {`, `if src == 0 && e.Decision >= d.fates.at(src).decision {`, nil},
	{"the ledger is not replayed", "compact/ledger.go", `case t.Has(step.In):`, `case t.Len() < 0:`, nil},
	{"a view above the budget is returned", "internal/reduce/engine.go", `q.Only != policy.Always && total > q.Budget.Most() {`, `q.Only != policy.Always && total > 2*q.Budget.Most() {`,
		&fault{file: "policy/squeeze.go", old: `over := total - v.Budget.Cap`, wrong: `over := 1`}},
	{"a call is refused although it fits", "policy/reach.go", "	n, stays := v.Fixed, v.mediaBound()\n", "	n, stays := v.Fixed+400, v.mediaBound()\n", nil},
}

func TestEveryPlantedFaultIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("each fault is a build of its own; run it without -short")
	}
	found := 0
	for i, f := range faults {
		if os.Getenv("COMPACT_SOAK") != "1" && i%samples.Every(16) != 0 {
			continue // the full set is make soak
		}
		t.Run(f.name, func(t *testing.T) {
			if plant(t, f) {
				found++
			}
		})
	}
	t.Logf("%d faults of %d planted and caught", found, len(faults))
}

// If you move a line of the code, also move its fault in the table. The test checks all
// faults, including the faults that only the full set plants.
func TestEveryFaultHasItsLine(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) { overlay(t, root(t), []fault{unchecked, f}) })
	}
	for _, f := range slices.Concat(archiveFaults, ruleFaults) {
		t.Run(f.name, func(t *testing.T) {
			overlay(t, root(t), []fault{unchecked, f.fault})
			haveTests(t, f.pkg, f.tests)
		})
	}
}

// haveTests checks that a package has the tests that see a fault. go test accepts a name
// that no test has.
func haveTests(t *testing.T, pkg, tests string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(t), pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for name := range strings.SplitSeq(tests, "|") {
		if !strings.Contains(string(all), "\nfunc "+name) {
			t.Errorf("%s has no test %s; the table is out of date", pkg, name)
		}
	}
}

// root returns the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// plant builds the properties with the fault in place of the real line, and
// the engine's own check off, and reports whether they fail.
func plant(t *testing.T, f fault) bool {
	t.Helper()
	return caught(t, f.name, "./compact", "TestPropertyRandomHistoriesChained", unchecked, f)
}

// caught builds the tests of a package with faults in place of the real lines
// and reports whether one of the named tests fails.
func caught(t *testing.T, name, pkg, tests string, parts ...fault) bool {
	t.Helper()
	dir := root(t)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-ldflags=-s -w", "-overlay", overlay(t, dir, parts), "-count=1", "-run", tests, pkg)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "COMPACT_SOAK=0")
	if os.Getenv("COMPACT_SOAK") == "1" { // the full set has faults that few samples show
		cmd.Env = append(cmd.Env, "COMPACT_SAMPLES=all")
	}
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the tests pass with %q planted", name)
		return false
	}
	if !strings.Contains(string(out), "--- FAIL: ") && !strings.Contains(string(out), "panic:") {
		t.Errorf("the test run failed for another reason:\n%.2000s", out)
		return false
	}
	return true
}

// overlay writes the broken files, and the overlay file for the compiler.
func overlay(t *testing.T, root string, parts []fault) string {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for _, f := range parts {
		for part := &f; part != nil; part = part.also {
			path := filepath.Join(root, part.file)
			from := path
			if replace[path] != "" {
				from = replace[path]
			}
			data, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(data), part.old); n != 1 {
				t.Fatalf("%s: the line to break occurs %d times; the table is out of date, want 1", part.file, n)
			}
			replace[path] = filepath.Join(dir, strings.ReplaceAll(part.file, "/", "_"))
			if err := os.WriteFile(replace[path], []byte(strings.Replace(string(data), part.old, part.wrong, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
