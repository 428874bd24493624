package crypt_test

import (
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestCryptOverMemoryKeepsThePromises(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		p, inner := newPair(t), memory.New()
		return crypt.New(inner, keys(t, p.identity, p)), crypt.New(inner, keys(t, p.identity, p))
	})
}

func TestCryptOverAFolderKeepsThePromises(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		p, root := newPair(t), t.TempDir()
		return crypt.New(folder(t, root), keys(t, p.identity, p)), crypt.New(folder(t, root), keys(t, p.identity, p))
	})
}

// TestCryptWithoutAnIdentityKeepsThePromises: a process that can only write reads its own
// writes.
func TestCryptWithoutAnIdentityKeepsThePromises(t *testing.T) {
	for _, broken := range storagetest.Check(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		a := crypt.New(memory.New(), keys(t, "", newPair(t)))
		return a, a
	}, "CreateKeepsEveryByte", "AppendAddsToTheEnd", "OpenReadsARange", "RemoveRemoves") {
		t.Errorf("%s: %s: %v", broken.Case, broken.Promise, broken.Err)
	}
}

func TestInterruptedScrubLosesNothing(t *testing.T) {
	storagetest.RunScrub(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		p, inner := newPair(t), memory.New()
		return crypt.New(inner, keys(t, p.identity, p)), crypt.New(inner, keys(t, p.identity, p))
	}, 19)
}
