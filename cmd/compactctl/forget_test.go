package main

import (
	"testing"

	"github.com/agentcompact/compact/search"
	"github.com/agentcompact/compact/storage/memory"
)

// An index from which nothing can be removed, for example on a full disk, is
// deleted as a whole.
func TestIndexThatCanNotForgetIsRemoved(t *testing.T) {
	folder := t.TempDir()
	x, err := search.Open(t.Context(), memory.New(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil { // a closed index accepts no changes
		t.Fatal(err)
	}
	f := userIndexes{x}
	if err := f.Forget(t.Context(), "s"); err != nil || search.Exists(folder) {
		t.Errorf("%v; the index exists: %t", err, search.Exists(folder))
	}
	if err := f.Forget(t.Context(), "s"); err != nil {
		t.Error(err)
	}
	if err := f.close(); err != nil {
		t.Error(err)
	}
}
