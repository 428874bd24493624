package fs_test

import (
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestWaitsForADiskAreBounded(t *testing.T) {
	storagetest.RunHanging(t, func(t testing.TB) (storage.Archive, func() (<-chan struct{}, func())) {
		a, hang, err := fs.OpenHanging(t.TempDir())
		must(t, err)
		t.Cleanup(func() { must(t, a.Close()) })
		return a, hang
	})
}
