package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// filesOf returns the files of a folder with their contents.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A run does not change the agent's own configuration and adds no file to its home,
// even if the agent needs settings.
func TestRunLeavesTheHomeOfAgentsAsItWas(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the agents are scripts")
	}
	home, bin, archive := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "a")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, name := range []string{"OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"} {
		t.Setenv(name, "k")
	}
	for _, file := range []string{".codex/config.toml", ".gemini/settings.json", ".config/opencode/opencode.json", ".pi/agent/settings.json", ".claude/settings.json", ".claude.json"} {
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := filesOf(t, home)
	for agent, shows := range map[string]string{"claude": "/anthropic", "codex": "openai_base_url", "gemini": "/.cache/compact-run-", "opencode": "/gemini/v1beta", "pi": "/.cache/compact-run-"} {
		script := "#!/bin/sh\necho \"$@\"; env; for f in $(env | sed -n 's/^GEMINI_CLI_SYSTEM_DEFAULTS_PATH=//p'); do cat $f; done\n"
		if err := os.WriteFile(filepath.Join(bin, agent), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		var out, errOut strings.Builder
		code := run(t.Context(), []string{"run", "--archive", archive, "--", agent, "go"}, strings.NewReader(""), &out, &errOut)
		if code != exitOK || !strings.Contains(out.String(), shows) {
			t.Errorf("%s: %d, its settings are %s %s", agent, code, out.String(), errOut.String())
		}
		after := filesOf(t, home)
		for file, text := range after {
			if before[file] != text {
				t.Errorf("%s: %s is %q", agent, file, text)
			}
		}
		if len(after) != len(before) {
			t.Errorf("%s: %d files are in the home, %d were", agent, len(after), len(before))
		}
	}
}
