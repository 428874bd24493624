package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
)

func TestTooLargeRequestIsRefused(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, strings.Repeat("ab", 32))
	var out strings.Builder
	if err := run(t.Context(), &out, t.TempDir(), 64<<10); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.HasPrefix(got, "0 ") || !strings.HasSuffix(got, "then: the quota is used up\n") {
		t.Errorf("got %q", got)
	}
}

// A compactctl with one more file, which imports the store, knows the store.
func TestCompactctlThatImportsTheStore(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED: it links compactctl; run it without -short")
	}
	dir := t.TempDir()
	compactctl := build(t, dir)
	call := func(want string, args ...string) {
		t.Helper()
		cmd := exec.Command(compactctl, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), compact.ArchiveKeyVariable+"="+strings.Repeat("ab", 32), "COMPACT_STORAGE_QUOTA_PATH=kept")
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) {
			t.Errorf("%q: %v, want %q in\n%s", args, err, want, out)
		}
	}
	write(t, dir, "good.yaml", "model: gpt-4\nmax_context_tokens: 4000\nstorage: {adapter: quota}\n")
	write(t, dir, "bad.yaml", "model: gpt-4\nstorage: {adapter: quota, quota: {max_byte: 5}}\n")
	write(t, dir, "full.yaml", "model: gpt-4\nstorage: {adapter: quota, quota: {max_bytes: 5}}\n")
	write(t, dir, "session.jsonl", session())
	call("# Maximum size of the folder in bytes.", "create-config")
	call(`unknown key "storage.quota.max_byte" (did you mean storage.quota.max_bytes?)`, "validate-config", "bad.yaml")
	call("it was opened", "validate-config", "good.yaml", "--try")
	call("", "compact", "session.jsonl", "--config", "good.yaml")
	call("session", "archive", "ls", "--config", "good.yaml")
	call("the quota is used up", "compact", "session.jsonl", "--config", "full.yaml")
	if found, err := filepath.Glob(filepath.Join(dir, "kept", "*", "ledger-001.json")); err != nil || len(found) != 1 {
		t.Errorf("the folder of the quota holds %q, %v", found, err)
	}
}

func build(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "quota.go", "package main\n\nimport _ \"github.com/agentcompact/compact/examples/store/quota\"\n")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "cmd/compactctl/quota.go"): filepath.Join(dir, "quota.go")}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "overlay.json", string(overlay))
	out := filepath.Join(dir, "compactctl.exe")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", out, "./cmd/compactctl")
	cmd.Dir = root
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return out
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// session returns a session that exceeds its window.
func session() string {
	var b strings.Builder
	b.WriteString(`{"role":"user","content":"Read the files."}` + "\n")
	for range 30 {
		b.WriteString(`{"role":"assistant","content":"` + strings.Repeat("A line of it. ", 80) + `"}` + "\n" + `{"role":"user","content":"And the next one?"}` + "\n")
	}
	return b.String()
}
