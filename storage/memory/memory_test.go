package memory_test

import (
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestMemoryKeepsThePromisesOfAnArchive(t *testing.T) {
	storagetest.Run(t, func(testing.TB) (storage.Archive, storage.Archive) {
		a := memory.New()
		return a, a
	})
}

func TestInterruptedScrubLosesNothing(t *testing.T) {
	storagetest.RunScrub(t, func(testing.TB) (storage.Archive, storage.Archive) {
		a := memory.New()
		return a, a
	}, 3)
}
