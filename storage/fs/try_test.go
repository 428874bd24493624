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

func TestTryLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := fs.Try(filepath.Join(dir, "a", "b", "archive")); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("there is %v, %v", files, err)
	}
	root := filepath.Join(dir, "archive")
	a, err := fs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Events(t.Context(), []redact.Text{redact.Lit("{}")}); err != nil {
		t.Fatal(err)
	}
	before := names(t, root)
	if err := fs.Try(root); err != nil {
		t.Error(err)
	}
	if after := names(t, root); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func names(t *testing.T, root string) string {
	t.Helper()
	all := ""
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		all += path + "\n"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestOpenNamesAnUnwritableFolder(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, ".tmp"), nil, 0o600); err != nil { // where drafts are written
		t.Fatal(err)
	}
	if _, err := fs.Open(root); err == nil || !strings.HasPrefix(err.Error(), "storage: open archive: "+root+": ") {
		t.Errorf("got %v, want an error", err)
	}
}

func TestTryReportsTheErrorOfOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"", file, filepath.Join(file, "below")} {
		if err := fs.Try(root); err == nil {
			t.Errorf("%q can be opened", root)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "x" {
		t.Errorf("the file is %q, %v", data, err)
	}
}
