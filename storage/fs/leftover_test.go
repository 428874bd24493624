package fs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
)

// An erase that was killed after its last file is completed when it is repeated: the
// empty folder, whose name is the id, and the name in _names are removed.
func TestEraseKilledBeforeItsFolderWasRemovedIsCompleted(t *testing.T) {
	ctx, root := t.Context(), t.TempDir()
	a, err := fs.Open(root)
	must(t, err)
	t.Cleanup(func() { must(t, a.Close()) })
	s, err := record.OpenSession(ctx, a, "ann")
	must(t, err)
	s.KeepHeads(record.NewHeads(a, nil))
	_, err = s.Final(ctx, []redact.Text{redact.Lit(`{"a":1}`)})
	must(t, err)
	names, err := filepath.Glob(filepath.Join(root, "_names", "*"))
	must(t, err)
	name, err := os.ReadFile(names[0])
	must(t, err)
	_, err = s.Erase(ctx, redact.Lit("asked for"))
	must(t, err)

	graves := filepath.Join(root, "_erased.jsonl") // the state after a crash: the tombstones without the last line
	data, err := os.ReadFile(graves)
	must(t, err)
	must(t, os.WriteFile(graves, firstLine(data), 0o600))
	must(t, os.Mkdir(filepath.Join(root, "ann"), 0o700))
	must(t, os.MkdirAll(filepath.Join(root, "_names"), 0o700))
	must(t, os.WriteFile(names[0], name, 0o600))

	again, err := record.OpenSession(ctx, a, "ann")
	must(t, err)
	stone, err := again.Erase(ctx, redact.Lit("asked for, again"))
	if err != nil || !stone.Done || stone.Reason != "asked for" {
		t.Errorf("%+v, %v, want a complete erase with its reason and no error", stone, err)
	}
	for _, path := range []string{filepath.Join(root, "ann"), names[0]} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s exists: %v", path, err)
		}
	}
	if _, err := again.Erase(ctx, redact.Lit("once more")); err == nil {
		t.Error("an erase of an erased session returned no error")
	}
}

func firstLine(data []byte) []byte {
	for i, b := range data {
		if b == '\n' {
			return data[:i+1]
		}
	}
	return data
}
