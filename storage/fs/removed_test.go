package fs

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// TestEraseDuringAWriteIsNoDiskError: the erase removes the file and its folder
// when the bytes are written, and before their names are durable.
func TestEraseDuringAWriteIsNoDiskError(t *testing.T) {
	t.Parallel()
	for what, write := range map[string]struct {
		do   func(*Archive, storage.Key) error
		want error
	}{
		"append": {func(a *Archive, k storage.Key) error {
			return a.Append(t.Context(), k, 0, storage.Redacted(redact.Lit("line\n")))
		}, storage.ErrSeq},
		"create": {func(a *Archive, k storage.Key) error {
			return a.Create(t.Context(), k, storage.Redacted(redact.Lit("text")))
		}, storage.ErrNotExist},
	} {
		root := filepath.Join(t.TempDir(), "root")
		a, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		k, err := storage.ParseKey("s/log.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		gone := func() {
			if err := os.RemoveAll(filepath.Join(root, "s")); err != nil {
				t.Error(err)
			}
		}
		a.sys.sync = func(f *os.File) error {
			err := f.Sync()
			if what == "append" {
				gone()
			}
			return err
		}
		a.sys.link = func(r *os.Root, from, to string) error {
			err := r.Link(from, to)
			gone()
			return err
		}
		if err := write.do(a, k); !errors.Is(err, write.want) {
			t.Errorf("%s: %v, want %v", what, err, write.want)
		}
		if _, err := os.Lstat(filepath.Join(root, "s")); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("%s: the folder exists: %v, want ErrNotExist", what, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}
