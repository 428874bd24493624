package fs_test

import (
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/storagetest"
)

func open(t testing.TB, root string) *fs.Archive {
	t.Helper()
	a, err := fs.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestFolderKeepsThePromisesOfAnArchive(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		root := t.TempDir()
		return open(t, root), open(t, root)
	})
}
