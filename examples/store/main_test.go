package main

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestQuotaKeepsThePromisesOfAnArchive(t *testing.T) {
	storagetest.Run(t, func(testing.TB) (storage.Archive, storage.Archive) {
		a := memory.New()
		return NewQuota(a, 1<<30), NewQuota(a, 1<<30)
	})
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, strings.Repeat("ab", 32))
	var out strings.Builder
	if err := run(t.Context(), &out, 64<<10); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); strings.HasPrefix(got, "0 ") || !strings.HasSuffix(got, "then: the quota is used up\n") {
		t.Errorf("got %q", got)
	}
}
