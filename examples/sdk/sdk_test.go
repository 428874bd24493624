// Package sdk holds a program for each SDK.
package sdk

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Each program runs to its end beyond its window, without a key, and what it has
// of compact is less than ten lines.
func TestExamplesAreShortAndRunOffline(t *testing.T) {
	programs, err := filepath.Glob("*/main.go")
	if err != nil || len(programs) < 5 {
		t.Fatalf("%q %v", programs, err)
	}
	bin := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", bin+"/", "./...").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, path := range programs {
		name := filepath.Base(filepath.Dir(path))
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines, ours := count(source); lines >= 40 || ours >= 10 || ours < 4 {
			t.Errorf("%s: %d lines, %d of them for compact", name, lines, ours)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name))
		cmd.Dir, cmd.Env = t.TempDir(), []string{"HOME=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "I have read 30 files.") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if steps, _ := filepath.Glob(filepath.Join(cmd.Dir, ".compact/archive", name, "ledger-*.json")); len(steps) == 0 {
			t.Errorf("%s: nothing was compacted: the example shows nothing", name)
		}
	}
}

// count counts the lines of a program, and those that are there for compact.
func count(source []byte) (lines, ours int) {
	for line := range bytes.Lines(source) {
		lines++
		for _, word := range []string{"compact/compact\"", "hook/transport\"", "compact.", "transport.", "m.Close"} {
			if bytes.Contains(line, []byte(word)) {
				ours++
				break
			}
		}
	}
	return lines, ours
}
