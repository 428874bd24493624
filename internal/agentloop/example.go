package agentloop

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	lines    = 40 // maximum number of lines of an example program
	ourLines = 10 // maximum number of its lines that exist for compact
)

// Example runs the main function of the package in the folder, offline. It checks
// that the program completes, that its session exceeds the window, and that both
// the program and its lines for compact are few.
func Example(t *testing.T, main func()) {
	t.Helper()
	name := Short(t, ".")
	named := namesAgent(t)
	for _, key := range []string{"OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(key, "")
	}
	t.Chdir(t.TempDir())
	if said := printed(t, main); !strings.Contains(said, "I have read 30 files.") {
		t.Errorf("%s: %q", name, said)
	}
	steps, _ := filepath.Glob(filepath.Join(".compact/archive", name, "ledger-*.json"))
	if len(steps) == 0 {
		t.Errorf("%s: nothing was compacted: the example shows nothing", name)
	}
	for _, path := range steps {
		if step, err := os.ReadFile(path); err != nil || bytes.Contains(step, []byte(`"agent":"reader"`)) != named {
			t.Errorf("%s: %v: the step does not name the agent as the program does", name, err)
		}
	}
}

// namesAgent reports whether the program in this folder sets the agent's name for
// compact.
func namesAgent(t *testing.T) bool {
	t.Helper()
	programs, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range programs {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(source, []byte("WithAgent(")) || bytes.Contains(source, []byte("X-Compact-Agent")) {
			return true
		}
	}
	return false
}

// Short checks that a folder's program is within the limits for examples, and
// returns its name.
func Short(t *testing.T, dir string) (name string) {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	name = filepath.Base(dir)
	all := 0
	for _, file := range []string{"main.go", "named.go"} {
		source, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil && file == "main.go" {
			t.Fatal(err)
		}
		n, ours := sizes(source)
		if all += ours; n >= lines {
			t.Errorf("%s: %s has %d lines", name, file, n)
		}
	}
	if all >= ourLines || all < 4 {
		t.Errorf("%s: %d lines are for compact, want at least 4 and fewer than %d", name, all, ourLines)
	}
	return name
}

// sizes counts the lines of a program, and its lines for compact.
func sizes(source []byte) (lines, ours int) {
	for line := range bytes.Lines(source) {
		lines++
		for _, word := range []string{"compact/compact\"", "hook/transport\"", "compact.", "transport.", "m.Close", "X-Compact-"} {
			if bytes.Contains(line, []byte(word)) {
				ours++
				break
			}
		}
	}
	return lines, ours
}

// printed returns the output of a function.
func printed(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = old
	_ = w.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
