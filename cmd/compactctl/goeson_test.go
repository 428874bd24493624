package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With storage.on_error continue, the compacted file is written although the
// archive can't be opened, and a message says so; otherwise nothing is written.
func TestOnErrorContinueHoldsWhereTheArchiveCanNotBeOpened(t *testing.T) {
	dir := t.TempDir()
	var chat strings.Builder
	for i := range 60 {
		fmt.Fprintf(&chat, `{"role":"user","content":"Part %d %s"}`+"\n"+`{"role":"assistant","content":"Done %d %s"}`+"\n", i, strings.Repeat("word ", 60), i, strings.Repeat("so ", 60))
	}
	chat.WriteString(`{"role":"user","content":"And now?"}` + "\n")
	for name, text := range map[string]string{"plain": "no folder", "chat.jsonl": chat.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for onError, want := range map[string]int{"continue": exitOK, "fail": exitArchive} {
		config, out := filepath.Join(dir, onError+".yaml"), filepath.Join(dir, onError+".jsonl")
		yaml := fmt.Sprintf("model: gpt-4\nmax_context_tokens: 8000\nstorage: {path: %q, on_error: %s}\n", filepath.Join(dir, "plain", "archive"), onError)
		if err := os.WriteFile(config, []byte(yaml), 0o600); err != nil {
			t.Fatal(err)
		}
		var o, e bytes.Buffer
		code := run(t.Context(), []string{"preflight", filepath.Join(dir, "chat.jsonl"), "--config", config, "--out", out}, strings.NewReader(""), &o, &e)
		written, err := os.ReadFile(out)
		if code != want || (err == nil) != (want == exitOK) || !strings.Contains(e.String(), "archive failed") {
			t.Errorf("%s: status %d, written: %v: %s", onError, code, err, e.String())
		}
		if want == exitOK && (!strings.Contains(string(written), "COMPACT-SUMMARY") || !strings.Contains(e.String(), "warning: ")) {
			t.Errorf("%s: %d bytes, %s", onError, len(written), e.String())
		}
	}
}
