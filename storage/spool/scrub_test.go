package spool_test

import (
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/spool"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestInterruptedScrubLosesNothing(t *testing.T) {
	storagetest.RunScrub(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		dir, remote := t.TempDir(), memory.New()
		o := &spool.Options{Passive: true}
		return open(t, dir, remote, o), open(t, dir, remote, o)
	}, 41)
}
