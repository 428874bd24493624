package fs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
)

// TestEraseRemovesTemporaryFiles has a process that died during a write, and a process that is
// still writing.
func TestEraseRemovesTemporaryFiles(t *testing.T) {
	root := t.TempDir()
	a, err := fs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Hold(t.Context(), redact.Lit("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.Release(t.Context(), redact.Lit("x")); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(root, ".tmp", "DEADAAAAAAAAAAAAAAAAAAAAAA")
	if err := os.WriteFile(dead, []byte("what alice said"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, discard, err := a.NewTemp()
	if err != nil {
		t.Fatal(err)
	}
	defer discard()
	stone, err := s.Erase(t.Context(), redact.Lit("asked for"))
	if err != nil || !stone.Done {
		t.Fatalf("%+v, %v, want a complete erase and no error", stone, err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("leftovers of a dead process exist: %v", err)
	}
	if len(stone.Left) != 1 || !strings.Contains(stone.Left[0], "a process writes to") {
		t.Errorf("the tombstone has Left %q", stone.Left)
	}
}
