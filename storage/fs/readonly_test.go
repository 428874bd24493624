package fs_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

func TestReadOnlyReadsAndWritesNothing(t *testing.T) {
	dir := t.TempDir()
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	k, err := storage.ParseKey("s/file.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Create(t.Context(), k, storage.Redacted()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Close(), os.RemoveAll(filepath.Join(dir, ".tmp"))); err != nil {
		t.Fatal(err)
	}
	r, err := fs.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := r.Open(t.Context(), k, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(f); err != nil || f.Close() != nil {
		t.Errorf("read: %v", err)
	}
	var seen []string
	for info, err := range r.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, info.Key.String())
	}
	if !slices.Equal(seen, []string{"s/file.json"}) || r.Location(k) != filepath.Join(dir, "s", "file.json") {
		t.Errorf("the archive lists %v, at %s, want %v", seen, r.Location(k), []string{"s/file.json"})
	}
	if err := r.Create(t.Context(), k, storage.Redacted()); !errors.Is(err, fs.ErrReadOnly) {
		t.Errorf("create: %v, want ErrReadOnly", err)
	}
	if err := r.Append(t.Context(), k, 0, storage.Redacted()); !errors.Is(err, fs.ErrReadOnly) {
		t.Errorf("append: %v, want ErrReadOnly", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; nothing may be added", entries, err)
	}
	if _, err := fs.OpenReadOnly(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing folder: %v, want ErrNotExist", err)
	}
	if _, err := fs.OpenReadOnly(""); err == nil {
		t.Error("an empty path causes no error")
	}
}
