package spool_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/spool"
)

func TestTryOfASpoolLeavesNothingBehind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "spool")
	must(t, spool.Try(dir, memory.New()))
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder exists: %v", err)
	}
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "remote"), []byte("elsewhere"), 0o600))
	remote, err := fs.Open(t.TempDir())
	must(t, err)
	if err := spool.Try(dir, remote); err == nil {
		t.Error("Try accepts a spool that belongs to another archive")
	}
}
