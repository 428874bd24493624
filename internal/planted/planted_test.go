// Package planted plants faults in the engine and shows that the properties
// catch each of them: the tests are tested.
package planted

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fault is one wrong line in one file, or in two.
type fault struct {
	name, file, old, wrong string
	also                   *fault
}

// unchecked switches the engine's own check of a stage's outcome off, so that
// what is caught is caught by the independent judge.
var unchecked = fault{file: "policy/check.go", old: `detail != "" {`, wrong: `detail == "\x00" {`}

var faults = []fault{
	{"the anchor is lost", "policy/conversation.go", `take(0, e.Cut.Recent, func(i int) bool { return !pinned[i] })`, ``, nil},
	{"pinned rounds are lost", "policy/conversation.go", `take(0, e.Cut.Recent, func(i int) bool { return pinned[i] })`, ``, nil},
	{"pinned rounds may be summarised", "policy/partition.go", `case v.pinnedRound(r):`, `case false:`, nil},
	{"the last user message may be summarised", "policy/partition.go", `case recent[r] && !ours, v.holdsAnchor(r):`, `case recent[r] && !ours:`, nil},
	{"visible results are masked", "policy/mask.go", `visible[v.round[i]] || v.Pinned[i]`, `visible[v.round[i]] && false || v.Pinned[i]`, nil},
	{"pinned results are masked", "policy/mask.go", `visible[v.round[i]] || v.Pinned[i]`, `visible[v.round[i]]`, nil},
	{"a placeholder may be larger than the result", "policy/placeholder.go", `return err == nil && v.Cost.Message(m) < v.Tokens[i]`, `return err == nil && v.Cost.Message(m) < v.Tokens[i]+1000`, nil},
	{"a placeholder states a wrong size", "policy/placeholder.go", `Chars: o.Chars, Tokens`, `Chars: o.Chars + 1, Tokens`, nil},
	{"a call is separated from its result", "message/round.go", `	if !answers {`, `	if !answers || i%2 == 0 {`, nil},
	{"a compaction comes before it is due", "policy/budget.go", `last+b.Trigger-b.Target)), last+1)`, `0)), 0)`, nil},
	{"decisions are not noted", "policy/conversation.go", `if src >= 0 && e.Decision >= d.decisions[src] {`, `if src == 0 && e.Decision >= d.decisions[src] {`, nil},
	{"the ledger is not replayed", "compact/ledger.go", `case has(r.chain, step.In):`, `case len(r.chain) < 0:`, nil},
	{"a view above the budget is returned", "policy/engine.go", `q.Only != Always && total > q.Budget.Cap {`, `q.Only != Always && total > 2*q.Budget.Cap {`,
		&fault{file: "policy/squeeze.go", old: `over := total - v.Budget.Cap`, wrong: `over := 1`}},
	{"a call is refused although it fits", "policy/squeeze.go", "	n := v.Fixed\n	for i := range v.Messages {\n		if !gone[i] {", "	n := v.Fixed + 400\n	for i := range v.Messages {\n		if !gone[i] {", nil},
}

func TestEveryPlantedFaultIsCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("each fault is a build of its own; ../shared is not needed")
	}
	caught := 0
	for i, f := range faults {
		if os.Getenv("COMPACT_SOAK") != "1" && i%5 != 0 {
			continue // the full set is make soak
		}
		t.Run(f.name, func(t *testing.T) {
			if plant(t, f) {
				caught++
			}
		})
	}
	t.Logf("%d faults of %d planted and caught", caught, len(faults))
}

// plant builds the properties with the fault in place of the real line and
// reports whether they fail.
func plant(t *testing.T, f fault) bool {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	parts := []fault{unchecked, f}
	if f.also != nil {
		parts = append(parts, *f.also)
	}
	for _, part := range parts {
		path := filepath.Join(root, part.file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), part.old); n != 1 {
			t.Fatalf("%s: the line to break stands %d times; the table is out of date", part.file, n)
		}
		broken := filepath.Join(dir, strings.ReplaceAll(part.file, "/", "_"))
		if err := os.WriteFile(broken, []byte(strings.Replace(string(data), part.old, part.wrong, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][path] = broken
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-vet=off", "-overlay", file, "-count=1", "-run", "TestPropertyRandomHistoriesChained", "./compact")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "COMPACT_SOAK=0")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the properties hold with %q planted", f.name)
		return false
	}
	if !strings.Contains(string(out), "--- FAIL: TestPropertyRandomHistoriesChained") && !strings.Contains(string(out), "panic:") {
		t.Errorf("it failed for another reason:\n%.2000s", out)
		return false
	}
	return true
}
