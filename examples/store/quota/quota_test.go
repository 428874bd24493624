package quota

import (
	"errors"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

func TestQuotaKeepsThePromisesOfAnArchive(t *testing.T) {
	storagetest.Run(t, func(testing.TB) (storage.Archive, storage.Archive) {
		a := memory.New()
		return New(a, 1<<30), New(a, 1<<30)
	})
}

func TestFolderOfAQuotaKeepsThePromisesOfAnArchive(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		var out [2]storage.Archive
		dir := t.TempDir()
		for i := range out {
			a, err := Open(t.Context(), Settings{Path: dir, MaxBytes: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = a.Close() })
			out[i] = a
		}
		return out[0], out[1]
	})
}

func TestExistingBytesCountForTheQuota(t *testing.T) {
	dir := t.TempDir()
	key, err := storage.ParseKey("s/f")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{nil, ErrFull} {
		a, err := Open(t.Context(), Settings{Path: dir, MaxBytes: 150})
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 100)
		r, err := redact.New(redact.Options{Disabled: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Create(t.Context(), key, storage.Redacted(r.Text(string(text)))); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if key, err = storage.ParseKey("s/g"); err != nil {
			t.Fatal(err)
		}
	}
}
