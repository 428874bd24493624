package search

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

// readOnly is an archive that can't hold its index.
type readOnly struct{ storage.Archive }

func (r readOnly) Location(k storage.Key) string { return r.Archive.(storage.Locator).Location(k) }

// An index in the cache is found under any path of the archive.
func TestIndexOfAnotherPathIsFound(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, home)
	}
	dir := t.TempDir()
	here := func(path string) storage.Archive {
		t.Helper()
		a, err := fs.Open(path)
		ok(t, err)
		t.Cleanup(func() { _ = a.Close() })
		return readOnly{a}
	}
	link := filepath.Join(t.TempDir(), "link")
	if os.Symlink(dir, link) != nil {
		t.Skip("there are no symbolic links")
	}
	folder, err := Folder(here(link))
	ok(t, err)
	ok(t, index(t, here(link), folder).Close())
	spelled := filepath.Join(filepath.Dir(folder), nameFor(asSpelled(here(link)))) // the name before links were resolved
	ok(t, index(t, here(link), spelled).Close())
	if got := Existing(here(link)); !slices.Equal(got, []string{folder, spelled}) {
		t.Errorf("by the path of the link: %q, want %q and %q", got, folder, spelled)
	}
	ok(t, os.RemoveAll(spelled))
	if got := Existing(here(dir)); !slices.Equal(got, []string{folder}) {
		t.Errorf("by another path: %q, want %q", got, folder)
	}
	// Another mount has another path, which nothing resolves.
	other := filepath.Join(filepath.Dir(folder), "other")
	ok(t, os.Rename(folder, other))
	ok(t, os.WriteFile(filepath.Join(other, originName), []byte(link), 0o600))
	if got := Existing(here(dir)); !slices.Equal(got, []string{other}) {
		t.Errorf("by another mount: %q, want %q", got, other)
	}
	if got := Existing(here(t.TempDir())); len(got) > 0 {
		t.Errorf("of another archive: %q", got)
	}
	for _, name := range []string{"search.db-journal", "search.db-wal", "search.db-shm"} { // left by a crash, with texts of sessions
		ok(t, os.WriteFile(filepath.Join(other, name), []byte("text"), 0o600))
	}
	ok(t, Remove(other))
	if entries, err := os.ReadDir(other); err != nil || len(entries) > 0 {
		t.Errorf("these entries are left: %v, %v", entries, err)
	}
}
