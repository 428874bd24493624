package fs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

// Tidy reports each file that it can't remove from the folder of temporary files, with the
// reason.
func TestTidyReportsWhatItCannotRemove(t *testing.T) {
	root := t.TempDir()
	a := open(t, root)
	must(t, os.Mkdir(filepath.Join(root, ".tmp", "FOLDERAAAAAAAAAAAAAAAAAAAA"), 0o700))
	left, err := a.Tidy(t.Context())
	if err == nil || len(left) != 1 || !strings.Contains(left[0], "FOLDERAAAAAAAAAAAAAAAAAAAA") {
		t.Errorf("left %q, %v, want an error", left, err)
	}
}

// A scrub removes the temporary files of a process that died during a write, and keeps those of a
// process that is still writing.
func TestScrubRemovesTemporaryFiles(t *testing.T) {
	root := t.TempDir()
	a := open(t, root)
	s, err := record.OpenSession(t.Context(), a, "s")
	must(t, err)
	must(t, s.Events(t.Context(), []redact.Text{redact.Lit(`{"name":"one"}`)}))
	dead := filepath.Join(root, ".tmp", "DEADAAAAAAAAAAAAAAAAAAAAAA")
	must(t, os.WriteFile(dead, []byte("what alice said"), 0o600))
	_, discard, err := a.NewTemp()
	must(t, err)
	defer discard()
	nothing := func(string, []byte) [][2]int { return nil }
	if dry, err := s.Scrub(t.Context(), record.ScrubOptions{Find: nothing, DryRun: true}); err != nil || len(dry.Left) != 0 {
		t.Errorf("%+v, %v, want nothing left and no error", dry, err)
	}
	must(t, second(os.Stat(dead)))
	done, err := s.Scrub(t.Context(), record.ScrubOptions{Find: nothing})
	if err != nil || len(done.Left) != 1 || !strings.Contains(done.Left[0], "a process writes to") {
		t.Errorf("%+v, %v, want one file left, which a process writes to, and no error", done, err)
	}
	if _, err := os.Stat(dead); !os.IsNotExist(err) {
		t.Errorf("leftovers of a dead process exist: %v", err)
	}
}
