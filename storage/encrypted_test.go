package storage_test

import (
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// The search index is plain in an encrypted archive, too, and can be its first file.
func TestEncryptedLooksBehindTheSearchIndex(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  bool
	}{
		{nil, false},
		{[]string{"_index/search.db"}, false},
		{[]string{"_index/search.db", "s/manifest.jsonl/00000000000000000000.age"}, true},
		{[]string{"_index/search.db", "s/manifest.jsonl"}, false},
		{[]string{"_heads/w.jsonl", "s/x.age"}, false},
	} {
		a := memory.New()
		for _, name := range c.files {
			key, err := storage.ParseKey(name)
			if err == nil {
				err = a.Create(t.Context(), key, storage.Redacted(redact.Lit("x")))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if is, err := storage.Encrypted(t.Context(), a); is != c.want || err != nil {
			t.Errorf("%q: %t, %v; want %t and no error", c.files, is, err, c.want)
		}
	}
}
