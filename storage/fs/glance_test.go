package fs

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

func stampOf(t *testing.T, a storage.Glancer, folder string, logs ...string) string {
	t.Helper()
	for f, err := range a.Glance(t.Context(), func(string) []string { return logs }) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == folder {
			return f.Stamp
		}
	}
	return "none"
}

// age makes a folder look old.
func age(t *testing.T, name string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestStampsShowNewRemovedAndGrownFiles(t *testing.T) {
	root := t.TempDir()
	a, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string) {
		t.Helper()
		k, err := storage.ParseKey(name)
		if err == nil {
			err = a.Create(t.Context(), k, storage.Redacted(redact.Lit("x\n")))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	create("s/one")
	if got := stampOf(t, a, "s"); got != "" {
		t.Errorf("a folder that was written to just now has the stamp %q", got)
	}
	dir := filepath.Join(root, "s")
	age(t, dir, time.Hour)
	first := stampOf(t, a, "s")
	if first == "" || first != stampOf(t, a, "s") {
		t.Errorf("stamp %q, then %q", first, stampOf(t, a, "s"))
	}
	create("s/two")
	age(t, dir, time.Minute)
	if stampOf(t, a, "s") == first {
		t.Error("a new file does not change the stamp")
	}
	before := stampOf(t, a, "s", "two")
	if err := os.WriteFile(filepath.Join(dir, "two"), []byte("longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	if stampOf(t, a, "s", "two") == before {
		t.Error("a longer log does not change the stamp")
	}
	if got := stampOf(t, a, tempFolder); got != "none" {
		t.Errorf("the folder of temporary files has the stamp %q, want %q", got, "none")
	}
	r, err := OpenReadOnly(root)
	if err != nil || stampOf(t, r, "s") != stampOf(t, a, "s") {
		t.Errorf("read only: %v", err)
	}
}

func TestDroppedIndexIsRemoved(t *testing.T) {
	root := t.TempDir()
	a, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // no folders: not an error
		if err := a.DropIndex(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(a.IndexFolder(), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.IndexFolder(), "search.db"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.DropIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(a.IndexFolder()); !os.IsNotExist(err) {
		t.Errorf("the folder of the index still exists: %v", err)
	}
}
