package seal

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A new key survives a loss of power even if its folder is new: the entry of each new
// folder is synced in the folder above it, and the entry of the key last.
func TestNewKeyIsDurableInANewFolder(t *testing.T) {
	var synced []string
	really := syncFolder
	syncFolder = func(folder string) error {
		synced = append(synced, folder)
		return really(folder)
	}
	t.Cleanup(func() { syncFolder = really })
	base := t.TempDir()
	folder := filepath.Join(base, "config", "compact", "keys")
	if err := WriteKey(folder, NewKey()); err != nil {
		t.Fatal(err)
	}
	want := []string{base, filepath.Join(base, "config"), filepath.Join(base, "config", "compact"), folder}
	if !slices.Equal(synced, want) {
		t.Errorf("synced %q, want %q", synced, want)
	}
	synced = nil
	if err := WriteKey(folder, NewKey()); err != nil || !slices.Equal(synced, []string{folder}) {
		t.Errorf("the second key: synced %q, %v; want %q and no error", synced, err, []string{folder})
	}
}

func TestKeyFolderThatIsAFileIsAnError(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteKey(folder, NewKey()); err == nil {
		t.Error("no error")
	}
}
