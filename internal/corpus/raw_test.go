package corpus

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRawReadsTheSessionsOfAFormat(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Env, dir)
	write(t, filepath.Join(dir, "a.gz"), zipped(t, "one"))
	write(t, filepath.Join(dir, "b.json"), []byte("two"))
	write(t, filepath.Join(dir, "MANIFEST.jsonl"), []byte(`{"id":"a","format":"X log","raw_path":"a.gz"}`+"\n"+
		`{"id":"held","format":"X log","raw_path":null}`+"\n"+`{"id":"y","format":"Y","raw_path":"y"}`+"\n"+`{"id":"b","format":"X export","raw_path":"b.json"}`+"\n"))
	got := map[string]string{}
	for id, data := range Raw(t, "X") {
		got[id] = string(data)
	}
	if diff := cmp.Diff(map[string]string{"a": "one", "b": "two"}, got); diff != "" {
		t.Error(diff)
	}
	for range Raw(t, "X") {
		break // the loop may end early
	}
	if w := watch(t, func(t testing.TB) { Raw(t, "Z") }); !w.skipped {
		t.Error("a format without sessions was not skipped")
	}
	missing := func(t testing.TB) {
		for range Raw(t, "Y") {
			t.Log("a missing session was handed out")
		}
	}
	if w := watch(t, missing); !w.failed {
		t.Error("a session that can't be read was accepted")
	}
	t.Setenv(Env, filepath.Join(dir, "nowhere"))
	if w := watch(t, func(t testing.TB) { Raw(t, "X") }); !w.skipped {
		t.Error("without a manifest the test was not skipped")
	}
	write(t, filepath.Join(dir, "MANIFEST.jsonl"), []byte("{\n"))
	t.Setenv(Env, dir)
	if w := watch(t, func(t testing.TB) { Raw(t, "X") }); !w.failed {
		t.Error("a broken manifest was accepted")
	}
}
