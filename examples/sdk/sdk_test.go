// Package sdk holds a program for each SDK.
package sdk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/agentloop"
)

// Each program runs to its end beyond its window, without a key, and has less
// than ten lines for compact.
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
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "go.mod")); err == nil {
			continue // the folder belongs to another module with its own tests
		}
		name := agentloop.Short(t, filepath.Dir(path))
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name))
		cmd.Dir, cmd.Env = t.TempDir(), []string{"HOME=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "I have read 30 files.") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if steps, _ := filepath.Glob(filepath.Join(cmd.Dir, ".compact/archive", name, "ledger-*.json")); len(steps) == 0 {
			t.Errorf("%s: nothing was compacted: the example proves nothing", name)
		}
	}
}
